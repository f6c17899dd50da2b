// SPDX-License-Identifier: Apache-2.0
// From real values to integers and back, with the arithmetic of ONNX QuantizeLinear and DequantizeLinear:
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

/// How far a search for a range goes: the numbers of the two iterative searches, see quantizers/symmetric.cpp and
/// quantizers/uniform.cpp.
struct SearchEffort {
  int power_candidates = 20;      // POWER_OF_TWO: thresholds tried, each half of the one before
  int symmetric_iterations = 20;  // SYMMETRIC: windows of 30 thresholds
  int shrink_every = 4;           // the window narrows after so many iterations
  int uniform_iterations = 30;    // UNIFORM: at most so many moves
  int uniform_points = 12;        // factors tried for each end in one move
  int uniform_grid = 12;          // factors tried for each end in the coarse grid
  int starts = 2;                 // the best so many of a coarse grid are looked at more closely
};

/// The error that a range makes; less is better. Never NaN. Where it is above `limit`, any number above that will do.
using RangeError = std::function<double(const Range&, double limit)>;

/// What a quantization method does. One record per method, in core/quant/quantizers; the list is in quantizer.cpp.
struct Quantizer {
  QuantizationMethod method;
  /// The grid's step for a range, and the integer of 0; scale 0 when the range has no width.
  Step (*step_of)(const Range& range, const IntegerGrid& grid);
  /// The zero point that goes with the scale as it will be written.
  int32_t (*zero_point_of)(const Range& range, const IntegerGrid& grid, float scale);
  /// The range, of the form this method has, that reaches from min to max and includes 0. No threshold is below
  /// `min_threshold`, and a range that is not empty is at least twice that wide.
  Range (*cover)(double min, double max, const IntegerGrid& grid, double min_threshold);
  /// The range of least error that is found from `start` (one that cover() gave); first wins among equals.
  Range (*search)(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold);
};

/// The record of a method. Error kInvalidConfig for one that has no even steps (LUT).
const Quantizer& quantizer_of(QuantizationMethod method);
/// Every method of even steps.
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

/// `x` (float32, any shape) as integers of params.storage(), same shape. Error kInvalidArgument when the channel axis
/// or its length does not fit.
Tensor quantize(const Tensor& x, const QuantizationParams& params);
/// The float32 values of integers made by quantize().
Tensor dequantize(const Tensor& q, const QuantizationParams& params);
/// dequantize(quantize(x)).
Tensor fake_quantize(const Tensor& x, const QuantizationParams& params);

}  // namespace tersor::quant
