// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tersor::kernels {

/// The product of two float32 is exact in double; the sum is rounded to odd in double before it is rounded to float32,
/// which equals a single rounding (Boldo and Melquiond, 2008).
float fma_by_rounding_to_odd(float a, float b, float c);

/// Of a sum that was rounded to double: whether a second rounding, to float32, may differ from one of the exact sum.
/// That needs a sum halfway between two floats, which lie further apart among the subnormal ones.
inline bool rounds_twice(double sum) {
  constexpr uint64_t kBelowFloat = (uint64_t{1} << 29) - 1, kHalf = uint64_t{1} << 28;
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return (bits & kBelowFloat) == kHalf || std::fabs(sum) < 0x1p-126;
}

/// a * b + c rounded once to float32, on every target alike.
inline float fma_once(float a, float b, float c) {
  const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
  return rounds_twice(sum) ? fma_by_rounding_to_odd(a, b, c) : static_cast<float>(sum);
}

}  // namespace tersor::kernels
