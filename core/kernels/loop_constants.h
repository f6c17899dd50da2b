// SPDX-License-Identifier: Apache-2.0
// Numbers for vectors that are set before a loop. They are defined elsewhere so that a compiler of the loop does not
// know them: V8 makes a vector that WebAssembly has as a constant anew wherever it is read, by three instructions.
#pragma once

#include <cstdint>

namespace tersor::kernels {

/// 1.5 * 2^23: added to a float within 2^22 it rounds to even, and the sum's lowest bits are the whole number's.
extern const float kNoFraction;
/// 2^23: the lowest 23 bits of its sum with a whole number below it are the number's.
extern const float kWholeAsBits;
extern const int32_t kLowestByte, kLowestByteOfTwo, kLowest27But4;

}  // namespace tersor::kernels
