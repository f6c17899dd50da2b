// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"

namespace tersor::ptq {

/// The inputs to the choice of a weight's parameters, besides the weight.
struct WeightContext {
  const Graph& graph;
  const framework::Attachment& attachment;
  const config::QuantizationConfig& config;
  /// Statistics of the kernel's input; null if it was not observed.
  const calibrate::TensorStatistics* input = nullptr;
  /// Parameters of the kernel's input; null if it stays float.
  const quant::QuantizationParams* input_params = nullptr;
  /// The scale of the integers that the runtime computes the kernel's input from. Nodes over which the runtime moves
  /// quantizers may lie in between.
  std::optional<float> bias_input_scale = {};
  /// The weight's parameters if they are given; null: they are chosen. Scales are raised for the bias in either case.
  const quant::QuantizationParams* known = nullptr;
};

/// Chooses the parameters of the weight and computes the bias:
///   - The bias is corrected for the mean error of rounding the weight, if the settings ask for it and the input was
///     observed: b[o] -= sum_i eps[o, i] * mean_x[i]. eps are the rounding errors summed over the window. Each tap is
///     weighted by the share of output positions at which it meets the input instead of the padding.
///   - A channel's weight scale is raised if the bias would not fit into 32 bits, which runtimes require for a
///     quantized input.
KernelPlan choose_weight(const Node& node, const passes::KernelOp& op, const WeightContext& context);

}  // namespace tersor::ptq
