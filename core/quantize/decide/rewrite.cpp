// SPDX-License-Identifier: Apache-2.0
#include "core/decide/rewrite.h"

#include <algorithm>
#include <cmath>

#include "core/base/number_text.h"

namespace tersor::ptq {

std::string first_few(const std::vector<std::string>& list) {
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t k = 0; k < std::min(list.size(), kNamed); ++k) text += (k == 0 ? "" : "; ") + list[k];
  return list.size() > kNamed ? text + "; and " + std::to_string(list.size() - kNamed) + " more" : text;
}

std::string number_text(double value) {
  return formatted("%.6g", value);
}

std::string fall_text(double least, double most) {
  const auto decibels = [](double ratio) { return formatted("%.1f", -10 * std::log10(ratio)); };
  const std::string low = decibels(least), high = decibels(most);
  return " falls by " + (low == high ? low : low + " to " + high) + " dB";
}

}  // namespace tersor::ptq
