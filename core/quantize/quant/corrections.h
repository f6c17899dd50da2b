// SPDX-License-Identifier: Apache-2.0
// The formulas of corrections that passes carry out on a graph. All in double.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/params.h"

namespace tersor::quant {

/// A kernel of any layout, its values in C order. Without groups it has as many input channels as its input; the means
/// of more are split among groups of outputs, each of which reads its own.
struct KernelView {
  std::span<const double> values;
  std::vector<int64_t> shape;
  int output_axis = 0;
  int input_axis = 1;  // the output axis again where each output reads its own input

  int64_t outputs() const { return shape[static_cast<size_t>(output_axis)]; }
};

/// What quantizing a kernel adds to the mean of each output: sum over inputs and places of (quantized - exact) * mean,
/// to be taken from the bias. `means` are those of the float input's channels; more of them than the kernel has inputs
/// are those of groups. With the output axis first, a group's outputs lie together; with it after the input axis
/// (ConvTranspose) each group has all outputs of its own, and the result has groups times as many. All zeros where the
/// groups do not come out even.
std::vector<double> weights_bias_correction(const KernelView& exact, std::span<const double> quantized,
                                            std::span<const double> means);

/// What quantizing an activation adds to the mean of what a dense or 1x1 kernel makes of it: the shift of the
/// activation's mean times the sum of each output's weights. Nothing when the shift is below `percent` of the mean.
/// The mean is taken over bin centres, the quantized one over the middle of both quantized edges.
std::optional<std::vector<double>> activation_bias_correction(const EvenBins& bins, const Step& step,
                                                              const IntegerGrid& grid, const KernelView& kernel,
                                                              double percent);

/// What a channel is divided by before its quantizer so that its deviation after a Relu is at most 1, its values in
/// front having that mean and deviation and spread like a bell: min(1 / deviation after it, 1); 1 for a channel that
/// the Relu leaves nothing of.
struct RectifiedMoments {
  double mean = 0;
  double second = 0;
};
RectifiedMoments rectified_moments(double mean, double deviation);
double equalization_scale(double mean, double deviation);

/// What is added to an activation with a small negative side so that it needs no sign: the first of the points
/// k * threshold / 2^n_bits that is not below -min, in float32. Nothing where nothing is negative or the negative side
/// is more than `ratio` of the threshold.
struct NegativeShift {
  double shift = 0;
  double threshold = 0;
};
std::optional<NegativeShift> negative_shift(double min, double threshold, int n_bits, double ratio);
/// The same by trying every point with that threshold and twice it, over the bins, for the least square error; the
/// bin's lower edges stand for them.
std::optional<NegativeShift> search_negative_shift(const EvenBins& bins, double min, double threshold, int n_bits,
                                                   double ratio);

/// What a channel is multiplied by so that its deviation is again what it was: a BatchNormalization that does nothing
/// to the float outputs (its own variance and epsilon those given) takes its statistics from the quantized ones.
double second_moment_gain(double variance, double quantized_variance, double epsilon);

/// Sum of the weights of each output.
std::vector<double> output_sums(const KernelView& kernel);

}  // namespace tersor::quant
