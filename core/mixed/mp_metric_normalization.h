// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::mixed {

/// What the sensitivities of a node's candidates are given in parts of.
enum class MpMetricNormalization {
  kNone,    // nothing
  kMaxBit,  // that of the candidate with the most bits
  kMinBit,  // that of the one with the fewest
};

}  // namespace tersor::mixed

template <>
struct tersor::EnumWords<tersor::mixed::MpMetricNormalization> {
  using N = tersor::mixed::MpMetricNormalization;
  static constexpr const char* kind = "metric normalization";
  static constexpr std::pair<N, std::string_view> words[] = {
      {N::kNone, "NONE"}, {N::kMaxBit, "MAXBIT"}, {N::kMinBit, "MINBIT"}};
};
