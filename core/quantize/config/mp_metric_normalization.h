// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// The divisor of the sensitivities of a node's candidates.
enum class MpMetricNormalization {
  kNone,    // nothing
  kMaxBit,  // that of the candidate with the most bits
  kMinBit,  // that of the candidate with the fewest bits
};

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::MpMetricNormalization> {
  using N = tersor::config::MpMetricNormalization;
  static constexpr const char* kind = "metric normalization";
  static constexpr std::pair<N, std::string_view> words[] = {
      {N::kNone, "NONE"}, {N::kMaxBit, "MAXBIT"}, {N::kMinBit, "MINBIT"}};
};
