// SPDX-License-Identifier: Apache-2.0
// The parameters by which the values of a quantized tensor are restored: x = (q - zero_point) * scale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/quantization_method.h"
#include "core/tensor/dtype.h"

namespace tersor::quant {

/// The set of integers that a quantized tensor may contain. It has 2 to 16 bits. `narrow` omits the lowest signed
/// integer, which makes the grid symmetric: [-127, 127] for 8 bits.
struct IntegerGrid {
  int n_bits = 8;
  bool is_signed = false;
  bool narrow = false;

  int32_t q_min() const { return is_signed ? -(1 << (n_bits - 1)) + (narrow ? 1 : 0) : 0; }
  int32_t q_max() const { return is_signed ? (1 << (n_bits - 1)) - 1 : (1 << n_bits) - 1; }
  bool operator==(const IntegerGrid&) const = default;
};

/// The real values that a quantizer should cover. For the symmetric methods, high is the threshold; low is -high if the
/// grid is signed, else 0.
struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};

/// Scale and zero point in double, before rounding to float32.
struct Step {
  double scale = 1;
  int32_t zero_point = 0;
};

/// Parameters of one quantized tensor.
///
/// Invariants: scale and zero_point have one entry, or one per index of channel_axis. Each scale is a positive, finite,
/// normal float32. Each zero point lies in [q_min, q_max], so 0 is represented exactly. The scale is computed in double
/// and rounded once; the zero point belongs to the rounded scale. A range without width (a tensor that is always 0) has
/// scale 1 and zero point 0. A tensor that is always c, not 0, has a scale that represents c.
struct QuantizationParams {
  QuantizationMethod method = QuantizationMethod::kUniform;
  IntegerGrid grid;
  std::optional<int> channel_axis;
  std::vector<float> scale{1};
  std::vector<int32_t> zero_point{0};
  std::vector<Range> range{Range{}};  // as requested, one per scale; the ends of the grid differ by rounding

  bool per_channel() const { return channel_axis.has_value(); }
  /// The smallest of (u)int8 and (u)int16 that holds the grid.
  DType storage() const;
  /// The real values at the two ends of the grid.
  Range representable(size_t channel = 0) const;
  bool operator==(const QuantizationParams&) const = default;
};

/// Computes the parameters for given ranges: one, or one per index of `channel_axis`. Error kInvalidArgument for a
/// method without ranges, bits outside 2 to 16, or a range that is not finite or whose ends are in the wrong order.
QuantizationParams params_of_ranges(QuantizationMethod method, const IntegerGrid& grid, std::span<const Range> ranges,
                                    std::optional<int> channel_axis = std::nullopt);

/// Builds parameters that a platform fixes. Error kInvalidArgument if the scale is not a positive normal float32 or the
/// zero point is outside the grid.
QuantizationParams fixed_params(QuantizationMethod method, const IntegerGrid& grid, double scale, int32_t zero_point);

/// Converts between signed and unsigned integers for the same values: integers and zero points move by 2^(n_bits - 1).
/// This is how a signed symmetric activation is written as uint8 with zero point 128. A narrow grid cannot become
/// unsigned.
QuantizationParams with_sign(QuantizationParams params, bool is_signed);

}  // namespace tersor::quant
