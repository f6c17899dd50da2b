// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// The measure of the distance between a quantized tensor and the float tensor; formulas are in core/mixed/distance.h.
enum class MpDistance { kNormalizedMse, kCosine, kKlDivergence };

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::MpDistance> {
  using D = tersor::config::MpDistance;
  static constexpr const char* kind = "distance";
  static constexpr std::pair<D, std::string_view> words[] = {
      {D::kNormalizedMse, "MSE"}, {D::kCosine, "COSINE"}, {D::kKlDivergence, "KL"}};
};
