// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/rewrite.h"

#include <algorithm>
#include <cstdio>

namespace tersor::ptq {

std::string first_few(const std::vector<std::string>& list) {
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t k = 0; k < std::min(list.size(), kNamed); ++k) text += (k == 0 ? "" : "; ") + list[k];
  return list.size() > kNamed ? text + "; and " + std::to_string(list.size() - kNamed) + " more" : text;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace tersor::ptq
