// SPDX-License-Identifier: Apache-2.0
#include "core/passes/channel_affine.h"

#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/passes/edit.h"

namespace tersor::passes {

std::optional<ChannelAffine> normalization(const Graph& graph, const Node& node, int64_t channels) {
  if (!node.is("BatchNormalization") || node.inputs.size() != 5 || int_of(node, "training_mode") != 0)
    return std::nullopt;
  for (size_t k = 1; k < node.outputs.size(); ++k)
    if (node.outputs[k].valid()) return std::nullopt;
  std::vector<std::vector<double>> parameters;
  for (size_t k = 1; k < 5; ++k) {
    const Tensor* tensor = float_constant(graph, node.inputs[k]);
    if (tensor == nullptr || tensor->elements() != channels) return std::nullopt;
    parameters.push_back(to_doubles(*tensor));
  }
  const double epsilon = float_of(node, "epsilon");
  ChannelAffine result;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const double deviation = std::sqrt(parameters[3][c] + epsilon);
    if (!(deviation > 0)) return std::nullopt;
    result.scale.push_back(parameters[0][c] / deviation);
    result.shift.push_back(parameters[1][c] - parameters[2][c] * result.scale.back());
  }
  return result;
}

}  // namespace tersor::passes
