// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tersor {

/// The hint where memory is short.
#ifdef __wasm__
inline constexpr const char* kMoreMemory = "Use fewer workers, smaller samples, or the native program.";
#else
inline constexpr const char* kMoreMemory = "Use fewer threads or smaller samples, or give the program more memory.";
#endif

}  // namespace tersor
