// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// What a weight's parameters depend on beside the weight itself.
struct WeightContext {
  const Graph& graph;
  const framework::Attachment& attachment;
  const config::QuantizationConfig& config;
  /// Of the kernel's input; null when it was not observed.
  const calibrate::TensorStatistics* input = nullptr;
  /// The input's quantization; null when it stays float.
  const quant::QuantizationParams* input_params = nullptr;
  /// The scale that the runtime dequantizes the input by, also where nodes stand in between that it moves that over.
  std::optional<float> bias_input_scale = {};
  /// The weight's parameters where they are known; null: they are looked for. Scales are raised as elsewhere.
  const quant::QuantizationParams* known = nullptr;
};

/// Parameters of the weight, and the bias to go with them:
///   - the bias is corrected for the mean error that rounding the weight makes, where the settings ask for it and the
///     input was observed: b[o] -= sum_i eps[o, i] * mean_x[i], eps being the rounding errors summed over the window
///     (each tap by the share of output positions at which it meets the input rather than the padding);
///   - a channel's weight scale is raised when the bias would not fit into 32 bits, as runtimes have it where the input
///     is quantized.
KernelPlan choose_weight(const Node& node, const passes::KernelOp& op, const WeightContext& context);

}  // namespace tersor::ptq
