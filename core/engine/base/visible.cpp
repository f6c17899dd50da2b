// SPDX-License-Identifier: Apache-2.0
#include "core/base/visible.h"

#include <algorithm>

namespace tersor {

namespace {

bool is_obeyed(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c != '\n' && c != '\t' && (byte < 0x20 || byte == 0x7f);
}

}  // namespace

std::string visible(std::string text) {
  if (std::none_of(text.begin(), text.end(), is_obeyed)) return text;
  constexpr const char* kDigits = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_obeyed(c))
      shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    else
      shown += c;
  }
  return shown;
}

}  // namespace tersor
