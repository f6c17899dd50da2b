// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/diagnostic.h"

namespace tersor::cli {

/// As std::printf, to standard output and to standard error, with control characters of names in view (visible()).
[[gnu::format(printf, 1, 2)]] void print(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void print_error(const char* format, ...);

/// "note: <place>: <message> <hint>" to standard error, without what is empty.
void print_note(const Diagnostic& note);

}  // namespace tersor::cli
