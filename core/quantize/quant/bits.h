// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tersor::quant {

/// The numbers of bits that an integer grid or the entries of a table may have.
inline constexpr int kFewestBits = 2, kMostBits = 16;

constexpr bool is_number_of_bits(int64_t bits) {
  return bits >= kFewestBits && bits <= kMostBits;
}

}  // namespace tersor::quant
