// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/choose_constants.h"

#include "core/base/error.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

namespace {

std::optional<int> channel_axis(const Shape& shape) {
  std::optional<int> axis;
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] == 1) continue;
    if (axis) return std::nullopt;
    axis = k;
  }
  return axis;
}

}  // namespace

std::vector<ConstantPlan> choose_constants(const Graph& graph, const framework::Attachment& attachment,
                                           const config::QuantizationConfig& config) {
  std::vector<ConstantPlan> plans;
  if (attachment.export_rules.placement != tpc::Placement::kOutputs) return plans;
  for (const Node& node : graph.nodes())
    for (const framework::WeightAttribute& weight : attachment.of(node.id).weights) {
      const tpc::AttributeQuantizationConfig& how = weight.config;
      if (weight.name != tpc::kPosAttr || !how.enable_weights_quantization) continue;
      const Tensor& constant = *graph.initializer(weight.value);
      if (constant.elements() == 0) continue;
      const quant::IntegerGrid grid{how.weights_n_bits, true, attachment.export_rules.narrow_weights};
      const auto axis = how.weights_per_channel_threshold ? channel_axis(constant.shape()) : std::nullopt;
      try {
        plans.push_back({node.id, weight.input,
                         quant::choose_weight_params(constant, how.weights_quantization_method, grid, axis,
                                                     config.weights_criterion())
                             .params});
      } catch (const Error& error) {
        if (error.code != ErrorCode::kInvalidModel) throw;
        throw error.within("graph.initializer \"" + graph.name_of(weight.value) + "\"");
      }
    }
  return plans;
}

}  // namespace tersor::ptq
