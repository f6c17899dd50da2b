// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::ptq {

/// What a correction that statistics decide on has done to the graph, for a person.
struct Rewrite {
  std::string_view field;  // of QuantizationConfig that asks for it
  int64_t places = 0;      // 0: nothing was changed, and `what` says why
  std::string what;        // a sentence: what and where
};

/// The first few of a list, and how many more there are.
std::string first_few(const std::vector<std::string>& list);

/// A number as people write it, with six digits.
std::string number_text(double value);

}  // namespace tersor::ptq
