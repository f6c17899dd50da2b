// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tersor::cli {

/// As std::printf, to standard output and to standard error, with control characters of names in view (visible()).
[[gnu::format(printf, 1, 2)]] void print(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void print_error(const char* format, ...);

}  // namespace tersor::cli
