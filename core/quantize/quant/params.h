// SPDX-License-Identifier: Apache-2.0
// What a quantized tensor needs to be read back: x = (q - zero_point) * scale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/quantization_method.h"
#include "core/tensor/dtype.h"

namespace tersor::quant {

/// The integers a tensor may take. `narrow` leaves out the lowest signed one, so that both sides reach equally far:
/// [-127, 127] for 8 bits. Bits are 2 to 16.
struct IntegerGrid {
  int n_bits = 8;
  bool is_signed = false;
  bool narrow = false;

  int32_t q_min() const { return is_signed ? -(1 << (n_bits - 1)) + (narrow ? 1 : 0) : 0; }
  int32_t q_max() const { return is_signed ? (1 << (n_bits - 1)) - 1 : (1 << n_bits) - 1; }
  bool operator==(const IntegerGrid&) const = default;
};

/// The real values that a quantizer is meant to cover. For the symmetric methods high is the threshold and low is
/// -high where the grid is signed, 0 where it is not.
struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};

/// Distance of neighbouring values, and the integer that stands for 0, before rounding to float32.
struct Step {
  double scale = 1;
  int32_t zero_point = 0;
};

/// Parameters of one quantized tensor.
///
/// Invariants: scale and zero_point have one entry, or one per index of channel_axis; each scale is a positive, finite,
/// normal float32; each zero point lies in [q_min, q_max], so 0 is always represented exactly. The scale is decided in
/// double and rounded once; the zero point belongs to the rounded scale. A range of no width (a tensor that is always
/// 0) has scale 1 and zero point 0; a tensor that is always c, not 0, gets a scale that represents c.
struct QuantizationParams {
  QuantizationMethod method = QuantizationMethod::kUniform;
  IntegerGrid grid;
  std::optional<int> channel_axis;
  std::vector<float> scale{1};
  std::vector<int32_t> zero_point{0};
  std::vector<Range> range{Range{}};  // what was asked for, one per scale; the grid's own ends differ by rounding

  bool per_channel() const { return channel_axis.has_value(); }
  /// The narrowest of (u)int8 and (u)int16 that holds the grid.
  DType storage() const;
  /// The real values at the two ends of the grid.
  Range representable(size_t channel = 0) const;
  bool operator==(const QuantizationParams&) const = default;
};

/// Parameters for chosen ranges: one, or one per index of `channel_axis`. Error kInvalidArgument for a method that
/// takes no range, bits outside 2 to 16, a range that is not finite or whose ends are in the wrong order.
QuantizationParams params_of_ranges(QuantizationMethod method, const IntegerGrid& grid, std::span<const Range> ranges,
                                    std::optional<int> channel_axis = std::nullopt);

/// Parameters that a platform fixes. Error kInvalidArgument when the scale is not a positive normal float32 or the zero
/// point is outside the grid.
QuantizationParams fixed_params(QuantizationMethod method, const IntegerGrid& grid, double scale, int32_t zero_point);

/// The same values under unsigned integers, or signed ones: every integer and zero point moves by 2^(n_bits - 1). A
/// signed symmetric activation is written as uint8 with zero point 128 this way. A narrow grid cannot become unsigned.
QuantizationParams with_sign(QuantizationParams params, bool is_signed);

}  // namespace tersor::quant
