// SPDX-License-Identifier: Apache-2.0
#include "core/correct/keep_deviations.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/quant/corrections.h"

namespace tersor::ptq {

namespace {

constexpr double kSmallPart = 1e-5;  // of a layer's variance: a channel that is quieter is left to its own

bool can_keep(const KernelPlan& kernel) {
  const quant::QuantizationMethod method = kernel.weight.method;
  return kernel.op.can_have_bias && !kernel.table && !kernel.blocks &&
         (method == quant::QuantizationMethod::kSymmetric || method == quant::QuantizationMethod::kUniform) &&
         kernel.weight.per_channel() && static_cast<int64_t>(kernel.weight.scale.size()) == kernel.op.outputs;
}

}  // namespace

double ChannelMoments::variance() const {
  return std::max(0.0, square - mean * mean);
}

std::vector<ChannelMap> keeping_maps(std::span<const ChannelMoments> in_float,
                                     std::span<const ChannelMoments> quantized) {
  TERSOR_CHECK(in_float.size() == quantized.size());
  double total = 0;
  for (const ChannelMoments& one : in_float) total += one.variance();
  const double epsilon = kSmallPart * total / static_cast<double>(std::max<size_t>(1, in_float.size()));
  std::vector<ChannelMap> maps;
  for (size_t c = 0; c < in_float.size(); ++c) {
    const double gain = quant::second_moment_gain(in_float[c].variance(), quantized[c].variance(), epsilon);
    maps.push_back({gain, in_float[c].mean - gain * quantized[c].mean});
  }
  return maps;
}

std::optional<Rewrite> keep_deviations(QuantizationPlan& plan) {
  for (KernelPlan& kernel : plan.kernels) kernel.keeps_deviation = can_keep(kernel);
  if (keeps_deviations(plan)) return std::nullopt;
  return Rewrite{
      "weights_second_moment_correction", 0,
      "Nothing was changed: no kernel with a bias has a SYMMETRIC or UNIFORM scale for each output channel."};
}

bool keeps_deviations(const QuantizationPlan& plan) {
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const KernelPlan& kernel) { return kernel.keeps_deviation; });
}

void map_outputs(std::span<const ChannelMap> maps, KernelPlan& kernel) {
  TERSOR_CHECK(maps.size() == kernel.weight.scale.size());
  kernel.rounded_by = kernel.weight;
  kernel.largest_correction = 0;
  if (kernel.bias.empty()) kernel.bias.assign(maps.size(), 0.0);
  for (size_t o = 0; o < maps.size(); ++o) {
    const double bias = maps[o].gain * kernel.bias[o] + maps[o].shift;
    const auto scale = static_cast<float>(kernel.weight.scale[o] * maps[o].gain);
    if (!std::isnormal(scale) || scale < 0 || !std::isnormal(kernel.input_scale.value_or(1) * scale)) continue;
    if (!kernel.bias_fits(bias, scale)) continue;
    kernel.bias[o] = bias;
    kernel.weight.scale[o] = scale;
    kernel.weight.range[o] = kernel.weight.representable(o);
    kernel.least_gain = std::min(kernel.least_gain, maps[o].gain);
    kernel.largest_gain = std::max(kernel.largest_gain, maps[o].gain);
  }
}

}  // namespace tersor::ptq
