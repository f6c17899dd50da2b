// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// The weight of each interest point in the distance between two models.
enum class MpDistanceWeighting {
  kAvg,        // all the same
  kLastLayer,  // the last alone
  kExp,        // 1 - exp(-distance / sigma): what is far away more
  kHessian,    // its mean Hessian score
};

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::MpDistanceWeighting> {
  using W = tersor::config::MpDistanceWeighting;
  static constexpr const char* kind = "distance weighting";
  static constexpr std::pair<W, std::string_view> words[] = {
      {W::kAvg, "AVG"}, {W::kLastLayer, "LAST_LAYER"}, {W::kExp, "EXP"}, {W::kHessian, "HESSIAN"}};
};
