// SPDX-License-Identifier: Apache-2.0
#include "core/cli/size_text.h"

#include <cinttypes>
#include <cstdio>

namespace tersor::cli {

std::string size_text(int64_t bytes) {
  char text[32];
  if (bytes < 1000)
    std::snprintf(text, sizeof(text), "%" PRId64 " bytes", bytes);
  else if (bytes < 1000 * 1000)
    std::snprintf(text, sizeof(text), "%.1f kB", static_cast<double>(bytes) / 1e3);
  else if (bytes < 1000 * 1000 * 1000)
    std::snprintf(text, sizeof(text), "%.2f MB", static_cast<double>(bytes) / 1e6);
  else
    std::snprintf(text, sizeof(text), "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

}  // namespace tersor::cli
