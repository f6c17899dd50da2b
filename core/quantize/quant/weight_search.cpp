// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/quant/error_functions.h"
#include "core/quant/kl_divergence.h"
#include "core/quant/scan_ends.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"

namespace tersor::quant {

namespace {

using Method = ThresholdSelectionMethod;

/// MCT's numbers over a tensor and a channel are 40 and 15 moves of a threshold, 30 and 10 of a range, 8 points and 10
/// powers of two. With few weights the error curve is rugged.
SearchEffort weight_effort(size_t weights, bool per_channel) {
  // Channels are many, a tensor is one: it can afford more.
  const size_t rugged = per_channel ? 128 : 4096, smooth = 8 * rugged;
  if (weights <= rugged)
    return per_channel ? SearchEffort{10, 15, 3, 10, 8, 48, 16} : SearchEffort{10, 40, 5, 30, 8, 48, 16};
  if (weights <= smooth) return {10, 15, 3, 10, 8, 12, 1};
  return {10, 1, 3, 1, 6, 8, 1};
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

/// The divergence of ranges over a histogram of 2048 bins. Whatever the quantizer, its integers are taken to stand
/// evenly from one end of the range to the other, as the reference does.
Range search_least_divergence(std::span<const double> weights, const Quantizer& quantizer, const IntegerGrid& grid,
                              const Range& start, const SearchEffort& effort, double least, bool thoroughly) {
  constexpr size_t kBins = 2048;
  KlDivergence divergence(even_histogram(weights, kBins));
  const Quantizer& even = quantizer_of(QuantizationMethod::kUniform);
  const auto error = [&](const Range& range, double /*limit*/) {
    return divergence.of(range, even.step_of(range, grid), grid);
  };
  const Range found = quantizer.search(start, error, effort, least);
  return thoroughly ? scan_ends(quantizer, grid, start, found, least, error) : found;
}

/// With more, fewer and fewer weights share an integer, and the divergence says less and less: the range of 8 bits
/// holds for all of them, with finer steps.
constexpr int kMostBitsOfKl = 8;

}  // namespace

std::vector<Method> weight_selection_methods() {
  return {Method::kNoClipping, Method::kMse, Method::kMae, Method::kKl, Method::kLp};
}

Range select_weight_range(std::span<const double> weights, QuantizationMethod method, const IntegerGrid& grid,
                          bool per_channel, const Criterion& criterion, std::span<const double> importance) {
  const Quantizer& quantizer = quantizer_of(method);
  double lowest = 0, highest = 0;
  for (const double x : weights) lowest = std::min(lowest, x), highest = std::max(highest, x);
  double lower_reach = lowest;
  if (grid.narrow && method == QuantizationMethod::kPowerOfTwo) lower_reach = -highest_with_room(-lowest, method, grid);
  const Range start =
      quantizer.cover(lower_reach, highest_with_room(highest, method, grid), grid, criterion.min_threshold);
  if (criterion.method == Method::kNoClipping || (lowest == 0 && highest == 0)) return start;
  if (criterion.method == Method::kKl && grid.n_bits > kMostBitsOfKl) {
    IntegerGrid fewer = grid;
    fewer.n_bits = kMostBitsOfKl;
    const Range found = select_weight_range(weights, method, fewer, per_channel, criterion, importance);
    return quantizer.cover(found.low, found.high, grid, criterion.min_threshold);
  }
  const SearchEffort effort = weight_effort(weights.size(), per_channel);
  if (criterion.method == Method::kKl)
    return search_least_divergence(weights, quantizer, grid, start, effort, criterion.min_threshold,
                                   !per_channel && method != QuantizationMethod::kPowerOfTwo);
  const auto p = error_exponent(criterion);
  if (!p)
    throw Error(ErrorCode::kInvalidConfig,
                std::string(enum_word(criterion.method)) + " chooses ranges of activations, not of weights.", "",
                "Use NOCLIPPING, MSE, MAE, KL or Lp.");
  if ((criterion.method == Method::kHmse) != (importance.size() == weights.size()))
    throw Error(ErrorCode::kInvalidConfig, "HMSE needs the importance of each weight, and nothing else does.");
  const auto error = [&](const Range& range, double limit) {
    return mean_error(weights, quantizer.step_of(range, grid), grid, *p, importance, limit);
  };
  return quantizer.search(start, error, effort, criterion.min_threshold);
}

WeightSelection choose_weight_params(const Tensor& weights, QuantizationMethod method, const IntegerGrid& grid,
                                     std::optional<int> channel_axis, const Criterion& criterion,
                                     const Tensor* importance) {
  const Shape& shape = weights.shape();
  if (channel_axis && (*channel_axis < 0 || *channel_axis >= shape.rank()))
    throw Error(ErrorCode::kInvalidArgument,
                "Weights of shape " + shape.text() + " have no channel axis " + std::to_string(*channel_axis) + ".");
  if (importance != nullptr && importance->shape() != shape)
    throw Error(ErrorCode::kInvalidArgument, "Weights of shape " + shape.text() + " were given importance of shape " +
                                                 importance->shape().text() + ".");
  const auto in_rows = [&](const Tensor& tensor) {
    return channel_axis ? rows_of(tensor, *channel_axis) : tensor.to_doubles();
  };
  const std::vector<double> rows = in_rows(weights);
  const std::vector<double> importances = importance != nullptr ? in_rows(*importance) : std::vector<double>{};
  check_finite(rows);
  const size_t channels = channel_axis ? static_cast<size_t>(shape[*channel_axis]) : 1;
  const size_t length = channels == 0 ? 0 : rows.size() / channels;
  std::vector<Range> ranges;
  for (size_t c = 0; c < channels; ++c) {
    const auto row = [&](const std::vector<double>& all) { return std::span(all).subspan(c * length, length); };
    ranges.push_back(select_weight_range(row(rows), method, grid, channel_axis.has_value(), criterion,
                                         importances.empty() ? std::span<const double>() : row(importances)));
  }
  WeightSelection made{params_of_ranges(method, grid, ranges, channel_axis)};
  made.expected_sqnr_db = sqnr_db(weights, fake_quantize(weights, made.params));
  return made;
}

}  // namespace tersor::quant
