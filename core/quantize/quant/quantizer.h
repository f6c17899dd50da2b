// SPDX-License-Identifier: Apache-2.0
// Conversion of real values to integers and back, with the arithmetic of ONNX QuantizeLinear and DequantizeLinear:
//   q = clamp(rne(x / scale) + zero_point, q_min, q_max)      the division in float32, ties to even
//   x = (q - zero_point) * scale                              in float32
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/quant/params.h"
#include "core/tensor/rounding.h"
#include "core/tensor/tensor.h"

namespace tersor::quant {

/// The numbers of steps in the two iterative range searches, quantizers/symmetric.cpp and quantizers/uniform.cpp.
struct SearchEffort {
  int power_candidates = 20;      // POWER_OF_TWO: thresholds tried, each half of the one before
  int symmetric_iterations = 20;  // SYMMETRIC: windows of 30 thresholds
  int shrink_every = 4;           // the window narrows every so many iterations
  int uniform_iterations = 30;    // UNIFORM: maximum number of moves
  int uniform_points = 12;        // factors tried for each end in one move
  int uniform_grid = 12;          // factors tried for each end in the coarse grid
  int starts = 2;                 // how many of the best points of the coarse grid are refined
};

/// The error of a range; less is better. Never NaN. If the error is above `limit`, any number above `limit` may be
/// returned.
using RangeError = std::function<double(const Range&, double limit)>;

/// A quantization method as a record of functions. The records are in core/quant/quantizers; quantizer.cpp lists them.
struct Quantizer {
  QuantizationMethod method;
  /// The step for a range; scale 0 if the range has no width.
  Step (*step_of)(const Range& range, const IntegerGrid& grid);
  /// The zero point that belongs to `scale` after rounding to float32.
  int32_t (*zero_point_of)(const Range& range, const IntegerGrid& grid, float scale);
  /// The smallest range of this method's form that contains min, max and 0. No threshold is below `min_threshold`, and
  /// a range that is not empty is at least 2 * min_threshold wide.
  Range (*cover)(double min, double max, const IntegerGrid& grid, double min_threshold);
  /// The range of least error that a search from `start`, a result of cover(), finds. Of equal errors the first wins.
  Range (*search)(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold);
};

/// The record of a method. Error kInvalidConfig for a table method, which has none.
const Quantizer& quantizer_of(QuantizationMethod method);
/// All methods of even steps.
std::vector<QuantizationMethod> acting_methods();

inline int32_t quantize_value(float x, float scale, int32_t zero_point, int32_t q_min, int32_t q_max) {
  constexpr float kFar = 1 << 20;  // beyond every grid
  float steps = x / scale;
  steps = steps > -kFar ? steps : -kFar;  // NaN too
  steps = steps < kFar ? steps : kFar;
  return std::clamp(static_cast<int32_t>(round_half_even_small(steps)) + zero_point, q_min, q_max);
}

inline float dequantize_value(int32_t q, float scale, int32_t zero_point) {
  return static_cast<float>(q - zero_point) * scale;
}

/// Quantizes `x` (float32, any shape) to integers of type params.storage(), same shape. Error kInvalidArgument if `x`
/// does not have the channel axis, or the number of scales is not its length.
Tensor quantize(const Tensor& x, const QuantizationParams& params);
/// Restores the float32 values of integers from quantize().
Tensor dequantize(const Tensor& q, const QuantizationParams& params);
/// dequantize(quantize(x)).
Tensor fake_quantize(const Tensor& x, const QuantizationParams& params);

}  // namespace tersor::quant
