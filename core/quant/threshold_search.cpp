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

constexpr SearchEffort kHistogramEffort{20, 20, 4, 30, 12};
constexpr SearchEffort kTensorEffort{10, 40, 5, 30, 8};
constexpr SearchEffort kChannelEffort{10, 15, 3, 10, 8};

/// The error curve of many weights is smooth: a search of fewer steps finds its valley as well.
SearchEffort effort_for(size_t weights, bool per_channel) {
  SearchEffort effort = per_channel ? kChannelEffort : kTensorEffort;
  constexpr size_t kFew = 1024;
  if (weights <= kFew) return effort;
  const int divisor = static_cast<int>(std::min<size_t>(weights / kFew + 1, 16));
  effort.symmetric_iterations = std::max(effort.symmetric_iterations / divisor, 2);
  effort.uniform_iterations = std::max(effort.uniform_iterations / divisor, 4);
  return effort;
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

Range select_weight_range(std::span<const double> row, QuantizationMethod method, const IntegerGrid& grid,
                          bool per_channel, const Criterion& criterion) {
  const Quantizer& quantizer = quantizer_of(method);
  double lowest = 0, highest = 0;
  for (const double x : row) lowest = std::min(lowest, x), highest = std::max(highest, x);
  double lower_reach = lowest;
  if (grid.narrow && method == QuantizationMethod::kPowerOfTwo) lower_reach = -highest_with_room(-lowest, method, grid);
  const Range start =
      quantizer.cover(lower_reach, highest_with_room(highest, method, grid), grid, criterion.min_threshold);
  if (criterion.method == ThresholdSelectionMethod::kNoClipping || (lowest == 0 && highest == 0)) return start;
  const int p = error_exponent(criterion);
  const auto error = [&](const Range& range) { return mean_error(row, quantizer.step_of(range, grid), grid, p); };
  return quantizer.search(start, error, effort_for(row.size(), per_channel), criterion.min_threshold);
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

Range select_activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                              const Criterion& criterion) {
  const Quantizer& quantizer = quantizer_of(method);
  if (criterion.method != ThresholdSelectionMethod::kNoClipping) error_exponent(criterion);
  if (histogram.empty() || histogram.zeros() == histogram.total()) return {0, 0};
  const Range start = quantizer.cover(histogram.min(), histogram.max(), grid, criterion.min_threshold);
  if (criterion.method == ThresholdSelectionMethod::kNoClipping) return start;
  const BinnedValues values(histogram, error_exponent(criterion));
  const auto error = [&](const Range& range) { return values.error(quantizer.step_of(range, grid), grid); };
  return quantizer.search(start, error, kHistogramEffort, criterion.min_threshold);
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
