// SPDX-License-Identifier: Apache-2.0
#include "core/quant/corrections.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/kernels/transcendental.h"
#include "core/tensor/rounding.h"

namespace tersor::quant {

namespace {

/// Calls one(element, output, input) for each value of a kernel.
template <class One>
void for_each_weight(const KernelView& kernel, One&& one) {
  std::vector<size_t> strides(kernel.shape.size(), 1);
  for (size_t axis = kernel.shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * static_cast<size_t>(kernel.shape[axis]);
  const auto along = [&](size_t element, int axis) {
    const size_t a = static_cast<size_t>(axis);
    return element / strides[a] % static_cast<size_t>(kernel.shape[a]);
  };
  for (size_t k = 0; k < kernel.values.size(); ++k) one(k, along(k, kernel.output_axis), along(k, kernel.input_axis));
}

double quantized(double x, const Step& step, const IntegerGrid& grid) {
  const double low = grid.q_min() - step.zero_point, high = grid.q_max() - step.zero_point;
  return std::clamp(round_half_even(x / step.scale), low, high) * step.scale;
}

}  // namespace

double second_moment_gain(double variance, double quantized_variance, double epsilon) {
  const double gamma = std::sqrt(variance + epsilon), deviation = std::sqrt(quantized_variance + epsilon);
  return deviation > 0 && gamma > 0 ? gamma / deviation : 1;
}

std::vector<double> output_sums(const KernelView& kernel) {
  std::vector<double> sums(static_cast<size_t>(kernel.outputs()), 0.0);
  for_each_weight(kernel, [&](size_t k, size_t output, size_t) { sums[output] += kernel.values[k]; });
  return sums;
}

std::vector<double> weights_bias_correction(const KernelView& exact, std::span<const double> quantized_values,
                                            std::span<const double> means) {
  TERSOR_CHECK(exact.values.size() == quantized_values.size());
  const size_t outputs = static_cast<size_t>(exact.outputs());
  const bool own_input = exact.input_axis == exact.output_axis;
  const bool transposed = exact.input_axis < exact.output_axis && exact.input_axis == 0;
  const size_t inputs = own_input ? 1 : static_cast<size_t>(exact.shape[static_cast<size_t>(exact.input_axis)]);
  std::vector<double> correction(outputs, 0.0);
  const size_t groups = own_input ? outputs : means.size() / inputs;
  const bool even = own_input ? means.size() == outputs
                              : groups > 0 && means.size() % inputs == 0 && (transposed || outputs % groups == 0);
  if (!even) return correction;
  const size_t per_group = outputs / groups;
  for_each_weight(exact, [&](size_t k, size_t output, size_t input) {
    const size_t mean = own_input ? output : transposed ? input : output / per_group * inputs + input;
    correction[output] += (quantized_values[k] - exact.values[k]) * means[mean];
  });
  return correction;
}

std::optional<std::vector<double>> activation_bias_correction(const EvenBins& bins, const Step& step,
                                                              const IntegerGrid& grid, const KernelView& kernel,
                                                              double percent) {
  double total = bins.zeros, exact = 0, rounded = 0;  // zeros stay zeros
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const double low = bins.edge(i), high = bins.edge(i + 1);
    total += bins.counts[i];
    exact += bins.counts[i] * (low + high) / 2;
    rounded += bins.counts[i] * (quantized(low, step, grid) + quantized(high, step, grid)) / 2;
  }
  if (!(total > 0)) return std::nullopt;
  const double mean = exact / total, shift = rounded / total - mean;
  if (mean != 0 && 100 * std::fabs(shift) / std::fabs(mean) < percent) return std::nullopt;
  std::vector<double> correction = output_sums(kernel);
  for (double& one : correction) one *= shift;
  return correction;
}

namespace {

/// erf in double: its series near zero, the continued fraction of erfc beyond.
double error_function(double x) {
  constexpr double kTwoBySqrtPi = 1.1283791670955125739, kOneBySqrtPi = 0.56418958354775628695;
  const double magnitude = std::fabs(x);
  if (magnitude < 2.5) {
    double term = magnitude, sum = magnitude;
    for (int n = 1; n < 60; ++n) {
      term *= -magnitude * magnitude / n;
      sum += term / (2 * n + 1);
    }
    return std::copysign(kTwoBySqrtPi * sum, x);
  }
  double fraction = 0;
  for (int n = 80; n > 0; --n) fraction = n / 2.0 / (magnitude + fraction);
  const double rest = kernels::exponential(-magnitude * magnitude) * kOneBySqrtPi / (magnitude + fraction);
  return std::copysign(1 - rest, x);
}

}  // namespace

RectifiedMoments rectified_moments(double mean, double deviation) {
  if (!(deviation > 0)) return {std::max(mean, 0.0), std::max(mean, 0.0) * std::max(mean, 0.0)};
  constexpr double kSqrtTwo = 1.4142135623730950488, kSqrtTwoPi = 2.5066282746310005024;
  const double variance = deviation * deviation;
  const double bell = variance * kernels::exponential(-(mean * mean) / (2 * variance)) / (kSqrtTwoPi * deviation);
  const double above = (1 + error_function(mean / (kSqrtTwo * deviation))) / 2;  // part of the values above zero
  return {mean * above + bell, (mean * mean + variance) * above + mean * bell};
}

double equalization_scale(double mean, double deviation) {
  const RectifiedMoments moments = rectified_moments(mean, deviation);
  const double variance = moments.second - moments.mean * moments.mean;
  return deviation > 0 && variance > 1 ? 1 / std::sqrt(variance) : 1;
}

namespace {

bool is_shiftable(double min, double threshold, double ratio) {
  return min < 0 && std::fabs(min) / threshold <= ratio;
}

}  // namespace

std::optional<NegativeShift> negative_shift(double min, double threshold, int n_bits, double ratio) {
  if (!is_shiftable(min, threshold, ratio)) return std::nullopt;
  const double step = std::ldexp(threshold, -n_bits);
  for (int k = 0; k < 1 << n_bits; ++k) {
    const float point = static_cast<float>(k * step);
    if (point + static_cast<float>(min) >= 0) return NegativeShift{point, threshold};
  }
  return NegativeShift{0, threshold};
}

std::optional<NegativeShift> search_negative_shift(const EvenBins& bins, double min, double threshold, int n_bits,
                                                   double ratio) {
  if (!is_shiftable(min, threshold, ratio)) return std::nullopt;
  NegativeShift best;
  double least = HUGE_VAL;
  const IntegerGrid grid{n_bits, false, false};
  for (const double t : {threshold, 2 * threshold})
    for (int k = 0; k < 1 << n_bits; ++k) {
      const Step step{std::ldexp(t, -n_bits), 0};
      const float point = static_cast<float>(k * step.scale);
      double error = 0;
      for (size_t i = 0; i < bins.counts.size() && error < least; ++i) {
        if (!(bins.counts[i] > 0)) continue;
        const double x = static_cast<float>(bins.edge(i)) + point, difference = quantized(x, step, grid) - x;
        error += bins.counts[i] * (difference * difference);
      }
      if (error < least) least = error, best = {point, t};
    }
  return best;
}

}  // namespace tersor::quant
