// SPDX-License-Identifier: Apache-2.0
// From real values to integers and back, with the arithmetic of ONNX QuantizeLinear and DequantizeLinear:
//   q = clamp(rne(x / scale) + zero_point, q_min, q_max)      the division in float32, ties to even
//   x = (q - zero_point) * scale                              in float32
#pragma once

#include <cstdint>
#include <span>

#include "core/quant/params.h"
#include "core/tensor/rounding.h"
#include "core/tensor/tensor.h"

namespace tersor::quant {

/// What a quantization method does. One record per method, in core/quant/quantizers; the list is in quantizer.cpp.
struct Quantizer {
  QuantizationMethod method;
  /// The grid's step and zero for a range; scale 0 when the range has no width.
  Step (*step_of)(const Range& range, const IntegerGrid& grid);
  /// The least range (of this method's form) that clips nothing between min and max; every threshold is at least
  /// `min_threshold`. For `grid.narrow == false` the lowest integer is made use of.
  Range (*cover)(double min, double max, const IntegerGrid& grid, double min_threshold);
};

/// The record of a method. Error kInvalidConfig for one that does not act yet.
const Quantizer& quantizer_of(QuantizationMethod method);

inline int32_t quantize_value(float x, float scale, int32_t zero_point, int32_t q_min, int32_t q_max) {
  const float steps = round_half_even(x / scale) + static_cast<float>(zero_point);
  if (!(steps > static_cast<float>(q_min))) return q_min;  // NaN too
  return steps < static_cast<float>(q_max) ? static_cast<int32_t>(steps) : q_max;
}

inline float dequantize_value(int32_t q, float scale, int32_t zero_point) {
  return static_cast<float>(q - zero_point) * scale;
}

/// `x` (float32, any shape) as integers of params.storage(), same shape. Error kInvalidArgument when the channel axis
/// or its length does not fit.
Tensor quantize(const Tensor& x, const QuantizationParams& params);
/// The float32 values of integers made by quantize().
Tensor dequantize(const Tensor& q, const QuantizationParams& params);
/// dequantize(quantize(x)).
Tensor fake_quantize(const Tensor& x, const QuantizationParams& params);

}  // namespace tersor::quant
