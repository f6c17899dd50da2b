// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// How weights are trained: the rounding of each weight (MCT's soft quantizer), or the weights, with a gradient that
/// passes straight through their rounding (STE).
enum class RoundingType { kSoftQuantizer, kSte };

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::RoundingType> {
  using T = tersor::config::RoundingType;
  static constexpr const char* kind = "rounding type";
  static constexpr std::pair<T, std::string_view> words[] = {{T::kSoftQuantizer, "SoftQuantizer"}, {T::kSte, "STE"}};
};
