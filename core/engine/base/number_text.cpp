// SPDX-License-Identifier: Apache-2.0
#include "core/base/number_text.h"

#include <cstdio>

namespace tersor {

std::string formatted(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

}  // namespace tersor
