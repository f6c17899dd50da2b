// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tersor::cli {

/// "512 bytes", "323.2 kB", "4.09 MB", "12.50 GB".
std::string size_text(int64_t bytes);

}  // namespace tersor::cli
