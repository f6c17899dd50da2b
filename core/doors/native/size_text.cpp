// SPDX-License-Identifier: Apache-2.0
#include "core/native/size_text.h"

#include <cctype>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <exception>

#include "core/base/error.h"

namespace tersor {

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

double amount_of(const std::string& text, const std::string& option) {
  size_t end = 0;
  double number = -1;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  std::string unit = text.substr(std::min(end, text.size()));
  std::erase(unit, ' ');
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  const double step = unit.size() == 2 && unit[1] == 'i' ? 1024 : 1000;
  const size_t power = unit.empty() ? 0 : std::string("kmgt").find(static_cast<char>(std::tolower(unit[0]))) + 1;
  const bool is_unit = unit.empty() || (power > 0 && (unit.size() == 1 || step == 1024));
  if (!std::isfinite(number) || number < 0 || !is_unit)
    throw Error(ErrorCode::kInvalidArgument, "Found \"" + text + "\" where an amount is expected.", option,
                "For example 200kB, 1.5MB, 64KiB or 75000.");
  return number * std::pow(step, static_cast<double>(power));
}

}  // namespace tersor
