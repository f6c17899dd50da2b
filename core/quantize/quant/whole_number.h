// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace tersor::quant {

/// Converts a whole number from 0 to 2^32 - 1 to an integer: after adding 2^52 it is in the lowest bits. WebAssembly's
/// own conversion first checks whether the number fits, which would dominate a short loop.
inline uint32_t whole_number(double x) {
  const double shifted = x + 0x1p52;
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  return static_cast<uint32_t>(bits);
}

}  // namespace tersor::quant
