// SPDX-License-Identifier: Apache-2.0
#include "core/graph/clamp_bounds.h"

#include <limits>

namespace tersor {

std::optional<ClampBounds> clamp_bounds(const Graph& graph, const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (node.is("Relu")) return ClampBounds{0, kInfinity};
  if (!node.is("Clip")) return std::nullopt;
  ClampBounds bounds{node.float_or("min", -kInfinity), node.float_or("max", kInfinity)};
  for (size_t slot = 1; slot < node.inputs.size() && slot < 3; ++slot) {
    if (!node.inputs[slot].valid()) continue;
    const Tensor* bound = graph.initializer(node.inputs[slot]);
    if (bound == nullptr || bound->dtype() != DType::kFloat32 || bound->elements() != 1) return std::nullopt;
    (slot == 1 ? bounds.low : bounds.high) = bound->to_doubles()[0];
  }
  if (!(bounds.low <= bounds.high)) return std::nullopt;  // NaN, or no number fits
  return bounds;
}

}  // namespace tersor
