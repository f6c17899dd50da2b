// SPDX-License-Identifier: Apache-2.0
#include "core/choose/input_mean_shift.h"

#include <algorithm>

#include "core/choose/two_ends.h"
#include "core/passes/edit.h"
#include "core/quant/corrections.h"

namespace tersor::ptq {

namespace {

bool weighs_alike(const Node& node, const passes::KernelOp& op) {
  if (!op.can_have_bias || op.is_transposed) return false;
  if (!op.is_conv) return true;
  const std::vector<int64_t> pads = node.ints_or("pads", {});
  const std::string padding = node.string_or("auto_pad", "NOTSET");
  return op.taps == 1 && std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; }) &&
         (padding == "NOTSET" || padding == "VALID");
}

}  // namespace

std::optional<std::vector<double>> input_mean_shift(const Node& node, const passes::KernelOp& op,
                                                    const WeightContext& context) {
  const config::QuantizationConfig& config = context.config;
  // The entries of a table are the means of what they stand for.
  if (!config.activation_bias_correction || context.input_params == nullptr ||
      quant::is_table_method(context.input_params->method) || context.input == nullptr || !weighs_alike(node, op) ||
      context.input->histogram.empty() || is_two_ends(context.input->histogram))
    return std::nullopt;
  const Tensor& weight = *context.graph.initializer(op.weight);
  const std::vector<double> values = passes::to_doubles(weight);
  const quant::KernelView kernel{values, weight.shape().dims(), op.output_axis, op.input_axis};
  const quant::QuantizationParams& params = *context.input_params;
  auto shift = quant::activation_bias_correction(quant::bins_of(context.input->histogram),
                                                 {params.scale[0], params.zero_point[0]}, params.grid, kernel,
                                                 config.activation_bias_correction_threshold);
  const bool moves = shift && std::any_of(shift->begin(), shift->end(), [](double one) { return one != 0; });
  return moves ? shift : std::nullopt;
}

}  // namespace tersor::ptq
