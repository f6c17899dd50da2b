// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tersor {

/// "512 bytes", "323.2 kB", "4.09 MB", "12.50 GB".
std::string size_text(int64_t bytes);

/// "200kB", "1.5 MB", "64KiB", "2.5G", "75000" as a number. Error kInvalidArgument at `option`.
double amount_of(const std::string& text, const std::string& option);

}  // namespace tersor
