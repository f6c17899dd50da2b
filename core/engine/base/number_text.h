// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tersor {

/// The number by a format of printf with one conversion of a double ("%.1f dB"), of up to 63 characters.
std::string formatted(const char* format, double number);

}  // namespace tersor
