// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// How weights are trained: the rounding of each (MCT's soft quantizer), or weights through whose rounding the gradient
/// passes (straight-through).
enum class RoundingType { kSoftQuantizer, kSte };

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::RoundingType> {
  using T = tersor::config::RoundingType;
  static constexpr const char* kind = "rounding type";
  static constexpr std::pair<T, std::string_view> words[] = {{T::kSoftQuantizer, "SoftQuantizer"}, {T::kSte, "STE"}};
};
