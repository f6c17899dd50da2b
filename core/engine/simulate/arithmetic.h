// SPDX-License-Identifier: Apache-2.0
// The vocabulary of the kernels here. A quantized tensor is a span of raw bytes with its parameters; whether the bytes
// are uint8 or int8 is in Grid. All float operations are single float32 operations, rounded; where a runtime fuses,
// fma_once() does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/kernels/fused.h"
#include "core/tensor/rounding.h"

namespace tersor::simulate {

/// Scale, zero point and type of an 8-bit tensor: real = scale * (q - zero_point), q in [low(), high()].
struct Grid {
  float scale = 1;
  int32_t zero_point = 0;
  bool is_signed = false;
  int32_t low() const { return is_signed ? -128 : 0; }
  int32_t high() const { return is_signed ? 127 : 255; }
  /// The number a raw byte stands for.
  int32_t number(uint8_t raw) const { return is_signed ? static_cast<int8_t>(raw) : raw; }
  bool operator==(const Grid&) const = default;
};

using kernels::fma_once;

/// rne(x) clamped to the grid's codes, as a raw byte. NaN gives the lowest code.
inline uint8_t saturate(float x, const Grid& grid) {
  const float low = static_cast<float>(grid.low()), high = static_cast<float>(grid.high());
  const float clamped = x >= low ? (x <= high ? x : high) : low;
  return static_cast<uint8_t>(static_cast<int32_t>(round_half_even(clamped)));
}

/// rne(clamp(x, low - zp, high - zp)) + zp, as a raw byte: how the matrix kernels requantize.
inline uint8_t saturate_then_shift(float x, const Grid& grid) {
  const float low = static_cast<float>(grid.low() - grid.zero_point),
              high = static_cast<float>(grid.high() - grid.zero_point);
  const float clamped = std::min(std::max(x, low), high);
  return static_cast<uint8_t>(static_cast<int32_t>(round_half_even(clamped)) + grid.zero_point);
}

/// QuantizeLinear of one value: sat(rne(x / scale) + zp).
inline uint8_t quantize(float x, const Grid& grid) {
  const float steps = round_half_even(x / grid.scale);
  const float low = static_cast<float>(grid.low() - grid.zero_point),
              high = static_cast<float>(grid.high() - grid.zero_point);
  const float clamped = steps >= low ? (steps <= high ? steps : high) : low;
  return static_cast<uint8_t>(static_cast<int32_t>(clamped) + grid.zero_point);
}

/// DequantizeLinear of one value: float32(q - zp) * scale.
inline float dequantize(uint8_t raw, const Grid& grid) {
  return static_cast<float>(grid.number(raw) - grid.zero_point) * grid.scale;
}

}  // namespace tersor::simulate
