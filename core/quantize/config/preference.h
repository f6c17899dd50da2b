// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// What to optimize when time in the runtime, size and accuracy conflict. Each word starts from a division of the graph
/// into integer and float operators (decide/choose_arithmetic.h). If samples are held out, the files of several words
/// are compared, and the best by this word is taken (core/trial/trial.h).
enum class Preference {
  kSpeed,     // the least expected time
  kBalanced,  // time and size: a quarter of the size is worth 15 percent of the float model's time
  kAccuracy,  // least error; starts with every correction, also those that cost time in the runtime, and gates in float
  kSize,      // the smallest file; starts as balanced, with all constants in integers
  kIntegers,  // every kernel in integers, otherwise the fastest; not compared with other words
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
