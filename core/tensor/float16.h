// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace tersor {

/// The value of an IEEE binary16 bit pattern; exact.
inline float float_from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 31u, mantissa = half & 1023u;
  uint32_t bits = 0;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | mantissa << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | mantissa << 13;
  } else if (mantissa != 0) {
    exponent = 113;
    while ((mantissa & 1024u) == 0) mantissa <<= 1, --exponent;
    bits = sign | exponent << 23 | (mantissa & 1023u) << 13;
  } else {
    bits = sign;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tersor
