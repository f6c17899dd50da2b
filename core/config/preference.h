// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// What counts where time in the runtime, size and accuracy pull apart.
enum class Preference {
  kSpeed,     // the least expected time, whatever stays in float for it
  kBalanced,  // time and size: a quarter of the size is worth 15 percent of the float model's time
  kAccuracy,  // as balanced, with every correction, also those that cost time in the runtime, and gates in float
  kSize,      // all weights in integers, and of what gives the same size the quickest
};

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::Preference> {
  using P = tersor::config::Preference;
  static constexpr const char* kind = "preference";
  static constexpr std::pair<P, std::string_view> words[] = {
      {P::kSpeed, "SPEED"}, {P::kBalanced, "BALANCED"}, {P::kAccuracy, "ACCURACY"}, {P::kSize, "SIZE"}};
};
