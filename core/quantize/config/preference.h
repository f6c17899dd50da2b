// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// What counts where time in the runtime, size and accuracy pull apart. Each word begins with a division of the graph
/// into what runs in integers and what stays in float (ptq/choose_arithmetic.h); where samples are held aside, the
/// files of several words are compared, and the one that is best by this word is taken (core/trial/trial.h).
enum class Preference {
  kSpeed,     // the least expected time
  kBalanced,  // time and size: a quarter of the size is worth 15 percent of the float model's time
  kAccuracy,  // least error; begins with every correction, also those that cost time in the runtime, and gates in float
  kSize,      // the smallest file; begins as balanced, with all constants in integers
  kIntegers,  // every kernel in integers, of what that leaves the quickest; compared with no other
};

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::Preference> {
  using P = tersor::config::Preference;
  static constexpr const char* kind = "preference";
  static constexpr std::pair<P, std::string_view> words[] = {{P::kSpeed, "SPEED"},
                                                             {P::kBalanced, "BALANCED"},
                                                             {P::kAccuracy, "ACCURACY"},
                                                             {P::kSize, "SIZE"},
                                                             {P::kIntegers, "INTEGERS"}};
};
