// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace tersor {

class Tensor;

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

/// The value of a bfloat16 bit pattern: the upper half of a float's; exact.
inline float float_from_bfloat16(uint16_t bfloat) {
  const uint32_t bits = static_cast<uint32_t>(bfloat) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The nearest IEEE binary16 bit pattern, ties to even; overflow gives infinity.
inline uint16_t half_from_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return sign;  // below half of the least subnormal
  // The significand with as many low bits to drop as the result's exponent demands.
  const uint32_t drop = exponent >= 113 ? 13 : 126 - exponent;
  const uint32_t significand = exponent >= 113 ? magnitude - (112u << 23) : (magnitude & 0x7fffffu) | 0x800000u;
  uint32_t half = significand >> drop;
  const uint32_t rest = significand & ((1u << drop) - 1), middle = 1u << (drop - 1);
  if (rest > middle || (rest == middle && (half & 1u) != 0)) ++half;
  return static_cast<uint16_t>(sign | half);
}

/// A tensor of float16 or bfloat16 as float32; exact.
Tensor widened(const Tensor& narrow);

}  // namespace tersor
