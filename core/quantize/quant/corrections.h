// SPDX-License-Identifier: Apache-2.0
// The formulas of the corrections that passes apply to a graph. All are computed in double.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/params.h"

namespace tersor::quant {

/// A kernel of any layout, its values in C order. In a grouped kernel, the input axis holds the input channels of a
/// single group.
struct KernelView {
  std::span<const double> values;
  std::vector<int64_t> shape;
  int output_axis = 0;
  int input_axis = 1;  // equal to output_axis for a depthwise kernel

  int64_t outputs() const { return shape[static_cast<size_t>(output_axis)]; }
};

/// Returns the mean error of each output that quantizing a kernel causes; subtract it from the bias.
///   error[o] = sum over inputs and taps of (quantized - exact) * mean
/// `means` are those of the channels of the float input. If there are more means than the kernel has inputs, they
/// belong to groups, whose outputs are consecutive. A kernel with the input axis first (ConvTranspose) must not have
/// groups. Returns zeros if channels do not divide evenly into groups.
std::vector<double> weights_bias_correction(const KernelView& exact, std::span<const double> quantized,
                                            std::span<const double> means);

/// Returns the mean error of each output of a dense or 1x1 kernel that quantizing its input causes: the shift of the
/// input's mean times the sum of the output's weights. Returns nothing if the shift is below `percent` percent of the
/// mean. The float mean uses the centres of the bins. The quantized mean uses the middle between the quantized edges of
/// each bin.
std::optional<std::vector<double>> activation_bias_correction(const EvenBins& bins, const Step& step,
                                                              const IntegerGrid& grid, const KernelView& kernel,
                                                              double percent);

/// Mean and second moment, after a Relu, of normally distributed values.
struct RectifiedMoments {
  double mean = 0;
  double second = 0;
};
RectifiedMoments rectified_moments(double mean, double deviation);
/// The factor that limits a channel's standard deviation after a Relu to 1: min(1 / deviation after the Relu, 1).
/// `mean` and `deviation` are those of the channel in front of the Relu, normally distributed. Returns 1 if the Relu
/// leaves nothing of the channel.
double equalization_scale(double mean, double deviation);

/// The addend that lifts an activation with a small negative side so that it can be unsigned: the least k * threshold /
/// 2^n_bits that is not below -min, in float32. Returns nothing if no value is negative or if -min is more than `ratio`
/// of the threshold.
struct NegativeShift {
  double shift = 0;
  double threshold = 0;
};
std::optional<NegativeShift> negative_shift(double min, double threshold, int n_bits, double ratio);
/// The same, but searches all addends at the given threshold and at twice the threshold for the least squared error
/// over the bins. Each bin is represented by its lower edge.
std::optional<NegativeShift> search_negative_shift(const EvenBins& bins, double min, double threshold, int n_bits,
                                                   double ratio);

/// The factor that restores a channel's standard deviation: sqrt((variance + epsilon) / (quantized_variance +
/// epsilon)), as if a BatchNormalization with the float statistics took those of the quantized model.
double second_moment_gain(double variance, double quantized_variance, double epsilon);

/// The sum of the weights of each output.
std::vector<double> output_sums(const KernelView& kernel);

}  // namespace tersor::quant
