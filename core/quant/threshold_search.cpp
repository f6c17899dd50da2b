// SPDX-License-Identifier: Apache-2.0
#include "core/quant/threshold_search.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"

namespace tersor::quant {

namespace {

/// Moves, points and starts of the searches. MCT's numbers over a histogram, a tensor and a channel are 20/30, 40/30
/// and 15/10 moves, 12, 8 and 8 points, 20, 10 and 10 powers of two. An error curve with few integers or few weights is
/// rugged, and only many tries find its deepest valley; with many it is smooth, and a few steps do.
SearchEffort histogram_effort(size_t bins, const IntegerGrid& grid) {
  if (grid.n_bits <= 5 || bins <= 512) return {20, 20, 4, 30, 12, 16, 2};
  if (grid.n_bits <= 8) return {20, 5, 2, 2, 8, 10, 1};
  return {20, 4, 4, 1, 6, 8, 1};
}

SearchEffort weight_effort(size_t weights, bool per_channel) {
  // Channels are many, a tensor is one: it can afford more.
  const size_t rugged = per_channel ? 128 : 4096, smooth = 8 * rugged;
  if (weights <= rugged)
    return per_channel ? SearchEffort{10, 15, 3, 10, 8, 48, 16} : SearchEffort{10, 40, 5, 30, 8, 48, 16};
  if (weights <= smooth) return {10, 3, 3, 3, 8, 12, 1};
  return {10, 1, 3, 1, 6, 8, 1};
}

/// The ends of a UNIFORM activation are no thresholds: however close, they are kept, down to where the product of its
/// scale and a weight's would leave the normal numbers of float32.
double least_threshold(QuantizationMethod method, const Criterion& criterion) {
  constexpr double kLeastWidth = 2.6469779601696886e-23;  // 2^-75
  return method == QuantizationMethod::kUniform ? kLeastWidth / 2 : criterion.min_threshold;
}

/// The highest weight as a covering range must count it: a grid that reaches one step further down than up gives the
/// highest weight its own integer only when the threshold is that step larger.
double highest_with_room(double highest, QuantizationMethod method, const IntegerGrid& grid) {
  const bool counts_steps_down =
      method == QuantizationMethod::kPowerOfTwo || (method == QuantizationMethod::kSymmetric && !grid.narrow);
  if (!grid.is_signed || !counts_steps_down) return highest;
  const double down = std::ldexp(1.0, grid.n_bits - 1);
  return highest * (down / (down - 1));
}

/// The weights of each index of `axis` in a row of its own, converted to double.
std::vector<double> rows_of(const Tensor& weights, int axis) {
  const Tensor aligned = weights.aligned();
  const auto values = aligned.data<float>();
  const Shape& shape = weights.shape();
  const int64_t outer = shape.elements(0, axis), channels = shape[axis], inner = shape.elements(axis + 1, shape.rank());
  std::vector<double> rows(values.size());
  size_t index = 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        rows[index++] = static_cast<double>(values[static_cast<size_t>((o * channels + c) * inner + i)]);
  return rows;
}

void check_finite(std::span<const double> values) {
  for (const double x : values)
    if (!std::isfinite(x))
      throw Error(ErrorCode::kInvalidModel, "A weight is not finite: " + std::to_string(x) + ".", "",
                  "The file may be damaged, or training diverged.");
}

}  // namespace

Range select_binned_range(const BinnedValues& values, const Range& extremes, QuantizationMethod method,
                          const IntegerGrid& grid, const Criterion& criterion) {
  const Quantizer& quantizer = quantizer_of(method);
  const double least = least_threshold(method, criterion);
  const Range start = quantizer.cover(extremes.low, extremes.high, grid, least);
  if (criterion.method == ThresholdSelectionMethod::kNoClipping) return start;
  const auto error = [&](const Range& range) { return values.error(quantizer.step_of(range, grid), grid); };
  return quantizer.search(start, error, histogram_effort(values.bins(), grid), least);
}

Range select_activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                              const Criterion& criterion) {
  const Quantizer& quantizer = quantizer_of(method);
  const bool no_clipping = criterion.method == ThresholdSelectionMethod::kNoClipping;
  const int p = no_clipping ? 1 : error_exponent(criterion);
  if (histogram.empty() || histogram.zeros() == histogram.total()) return {0, 0};
  if (no_clipping) return quantizer.cover(histogram.min(), histogram.max(), grid, least_threshold(method, criterion));
  return select_binned_range(BinnedValues(histogram, p), {histogram.min(), histogram.max()}, method, grid, criterion);
}

Range select_weight_range(std::span<const double> weights, QuantizationMethod method, const IntegerGrid& grid,
                          bool per_channel, const Criterion& criterion) {
  const Quantizer& quantizer = quantizer_of(method);
  double lowest = 0, highest = 0;
  for (const double x : weights) lowest = std::min(lowest, x), highest = std::max(highest, x);
  double lower_reach = lowest;
  if (grid.narrow && method == QuantizationMethod::kPowerOfTwo) lower_reach = -highest_with_room(-lowest, method, grid);
  const Range start =
      quantizer.cover(lower_reach, highest_with_room(highest, method, grid), grid, criterion.min_threshold);
  if (criterion.method == ThresholdSelectionMethod::kNoClipping || (lowest == 0 && highest == 0)) return start;
  const int p = error_exponent(criterion);
  const auto error = [&](const Range& range) { return mean_error(weights, quantizer.step_of(range, grid), grid, p); };
  return quantizer.search(start, error, weight_effort(weights.size(), per_channel), criterion.min_threshold);
}

QuantizationParams choose_activation_params(const Histogram& histogram, QuantizationMethod method,
                                            const IntegerGrid& grid, const Criterion& criterion) {
  const Range range = select_activation_range(histogram, method, grid, criterion);
  return params_of_ranges(method, grid, std::span<const Range>(&range, 1));
}

QuantizationParams choose_weight_params(const Tensor& weights, QuantizationMethod method, const IntegerGrid& grid,
                                        std::optional<int> channel_axis, const Criterion& criterion) {
  const Shape& shape = weights.shape();
  if (channel_axis && (*channel_axis < 0 || *channel_axis >= shape.rank()))
    throw Error(ErrorCode::kInvalidArgument,
                "Weights of shape " + shape.text() + " have no channel axis " + std::to_string(*channel_axis) + ".");
  const std::vector<double> rows = channel_axis ? rows_of(weights, *channel_axis) : weights.to_doubles();
  check_finite(rows);
  const size_t channels = channel_axis ? static_cast<size_t>(shape[*channel_axis]) : 1;
  const size_t length = channels == 0 ? 0 : rows.size() / channels;
  std::vector<Range> ranges;
  for (size_t c = 0; c < channels; ++c)
    ranges.push_back(select_weight_range(std::span<const double>(rows).subspan(c * length, length), method, grid,
                                         channel_axis.has_value(), criterion));
  return params_of_ranges(method, grid, ranges, channel_axis);
}

}  // namespace tersor::quant
