// SPDX-License-Identifier: Apache-2.0
#include "core/quant/lut_quantizer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::quant {

namespace {

void check(QuantizationMethod method, int n_bits, int lut_values_bitwidth) {
  if (!is_table_method(method))
    throw Error(ErrorCode::kInvalidArgument, std::string(enum_word(method)) + " has no table.");
  if (n_bits < 2 || n_bits > 7)
    throw Error(ErrorCode::kInvalidArgument,
                "A table for " + std::to_string(n_bits) + " bits was asked for; 2 to 7 are possible.", "",
                "From 8 bits on an even grid does as well.");
  if (lut_values_bitwidth < n_bits || lut_values_bitwidth > 16)
    throw Error(ErrorCode::kInvalidArgument, "lut_values_bitwidth is " + std::to_string(lut_values_bitwidth) + "; " +
                                                 std::to_string(n_bits) + " to 16 are possible.");
}

double threshold_for(QuantizationMethod method, double magnitude, double min_threshold) {
  const double threshold = std::max(magnitude, min_threshold);
  return method == QuantizationMethod::kLutPotQuantizer ? power_of_two_above(threshold) : threshold;
}

std::vector<float> scales_of(const std::vector<double>& thresholds, const LutValues& values) {
  std::vector<float> scales;
  for (const double t : thresholds)
    scales.push_back(static_cast<float>(std::ldexp(t, (values.is_signed ? 1 : 0) - values.value_bits)));
  return scales;
}

/// A tensor seen as [outer, channels, inner] around the channel axis; [1, 1, all] without one.
struct Blocks {
  size_t channels = 1, inner = 1;
  size_t channel_of(size_t index) const { return index / inner % channels; }
};

Blocks blocks_of(const Shape& shape, std::optional<int> axis) {
  if (!axis) return {1, std::max<size_t>(static_cast<size_t>(shape.elements()), 1)};
  if (*axis < 0 || *axis >= shape.rank())
    throw Error(ErrorCode::kInvalidArgument,
                "A tensor of shape " + shape.text() + " has no channel axis " + std::to_string(*axis) + ".");
  return {static_cast<size_t>(shape[*axis]), static_cast<size_t>(shape.elements(*axis + 1, shape.rank()))};
}

/// The thresholds at which the largest value of each channel still has an entry when positive ones reach one step less
/// far than negative ones, a step being 2^(1 - bits) of the threshold.
std::vector<double> weight_thresholds(std::span<const float> w, const Blocks& blocks, QuantizationMethod method,
                                      int bits, double min_threshold) {
  const double down = std::ldexp(1.0, bits - 1), room = down / (down - 1);
  std::vector<double> reach(blocks.channels, 0.0);
  for (size_t i = 0; i < w.size(); ++i) {
    double& most = reach[blocks.channel_of(i)];
    most = std::max(most, w[i] < 0 ? -static_cast<double>(w[i]) : w[i] * room);
  }
  for (double& t : reach) t = threshold_for(method, t, min_threshold);
  return reach;
}

double square_error(const Tensor& exact, const Tensor& quantized) {
  const auto x = exact.data<float>(), back = quantized.data<float>();
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = static_cast<double>(x[i]) - back[i];
    sum += error * error;
  }
  return sum;
}

}  // namespace

LutSelection choose_lut_weight_params(const Tensor& weights, QuantizationMethod method, int n_bits,
                                      int lut_values_bitwidth, std::optional<int> channel_axis,
                                      const Criterion& criterion) {
  check(method, n_bits, lut_values_bitwidth);
  const Tensor exact = weights.aligned();
  const auto w = exact.data<float>();
  for (const float x : w)
    if (!std::isfinite(x))
      throw Error(ErrorCode::kInvalidModel, "A weight is not finite: " + std::to_string(x) + ".", "",
                  "The file may be damaged, or training diverged.");
  const Blocks blocks = blocks_of(exact.shape(), channel_axis);
  LutSelection best;
  double least = HUGE_VAL;
  // Room for the largest weight by the entries' own width. By the indices' width, as MCT has it, entries lie coarser
  // but sometimes luckier.
  for (const int bits : {lut_values_bitwidth, n_bits}) {
    LutParams params{method, n_bits, {lut_values_bitwidth, true}, channel_axis, {}, {}, {}};
    params.threshold = weight_thresholds(w, blocks, method, bits, criterion.min_threshold);
    params.scale = scales_of(params.threshold, params.values);
    std::vector<double> places;
    for (size_t i = 0; i < w.size(); ++i)
      places.push_back(lut_place(w[i], params.threshold[blocks.channel_of(i)], params.values));
    params.table = least_error_table(places, {}, params.values, 1 << n_bits, true).entries;
    const double error = square_error(exact, dequantize(quantize(exact, params), params));
    if (error < least) least = error, best.params = std::move(params);
  }
  best.expected_sqnr_db = sqnr_db(exact, dequantize(quantize(exact, best.params), best.params));
  return best;
}

LutParams lut_activation_params(const EvenBins& bins, QuantizationMethod method, int n_bits, const LutValues& values,
                                double threshold) {
  LutParams params{method, n_bits, values, std::nullopt, {}, {threshold}, scales_of({threshold}, values)};
  const auto place = [&](double x) { return lut_place(x, threshold, values); };
  std::vector<double> places{place(0)}, weights{bins.zeros};
  for (size_t i = 0; i < bins.counts.size(); ++i)
    if (bins.counts[i] > 0) places.push_back(place(bins.center(i))), weights.push_back(bins.counts[i]);
  params.table = least_error_table(places, weights, values, 1 << n_bits, false).entries;
  return params;
}

LutSelection choose_lut_activation_params(const EvenBins& bins, QuantizationMethod method, int n_bits, bool is_signed,
                                          int lut_values_bitwidth, const Criterion& criterion) {
  check(method, n_bits, lut_values_bitwidth);
  EvenBins kept = bins;
  remove_outliers(kept, criterion.z_threshold);
  if (kept.all_zero()) kept = bins;
  const double magnitude = std::max(is_signed ? -kept.extremes.low : 0.0, kept.extremes.high);
  LutSelection made{lut_activation_params(kept, method, n_bits, {lut_values_bitwidth, is_signed},
                                          threshold_for(method, magnitude, criterion.min_threshold))};
  const LutParams& params = made.params;
  const auto back = [&](double x) {
    const size_t nearest = nearest_entry(params.table, lut_place(x, params.threshold[0], params.values));
    return static_cast<double>(params.table[nearest]) * params.scale[0];
  };
  double signal = 0, noise = bins.zeros * (back(0) * back(0));
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const double x = bins.center(i), error = x - back(x);
    signal += bins.counts[i] * (x * x);
    noise += bins.counts[i] * (error * error);
  }
  made.expected_sqnr_db = decibels(signal, noise);
  return made;
}

std::vector<uint8_t> nearest_codes(const LutParams& params, int32_t zero_point) {
  std::vector<uint8_t> codes(256);
  for (size_t code = 0; code < codes.size(); ++code) {
    const double place = static_cast<double>(code) - zero_point;
    codes[code] = static_cast<uint8_t>(params.table[nearest_entry(params.table, place)] + zero_point);
  }
  return codes;
}

Tensor quantize(const Tensor& x, const LutParams& params) {
  const Blocks blocks = blocks_of(x.shape(), params.channel_axis);
  const Tensor source = x.aligned();
  const auto values = source.data<float>();
  Tensor q = Tensor::make(DType::kUint8, x.shape());
  const auto indices = q.mutable_data<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double place = lut_place(values[i], params.threshold[blocks.channel_of(i)], params.values);
    indices[i] = static_cast<uint8_t>(nearest_entry(params.table, place));
  }
  return q;
}

Tensor dequantize(const Tensor& q, const LutParams& params) {
  const Blocks blocks = blocks_of(q.shape(), params.channel_axis);
  const auto indices = q.data<uint8_t>();
  Tensor x = Tensor::make(DType::kFloat32, q.shape());
  const auto values = x.mutable_data<float>();
  for (size_t i = 0; i < indices.size(); ++i)
    values[i] = static_cast<float>(params.table[indices[i]]) * params.scale[blocks.channel_of(i)];
  return x;
}

}  // namespace tersor::quant
