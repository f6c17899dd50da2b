// SPDX-License-Identifier: Apache-2.0
// Finds the elementwise function that float nodes behind a tensor compute. Examples are x sigmoid(x) in two nodes, x
// clip(x + 3, 0, 6) / 6 in three or four, a GELU in five, and a HardSwish in one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/decide/placement.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

/// The nodes that compute an elementwise function.
struct UnaryRegion {
  ValueId from;  // input of the function; nothing outside the region reads it
  ValueId to;    // its result: the first tensor that all paths from `from` pass through; same shape as `from`
  std::vector<size_t> nodes;  // indices in the order of the graph
};

/// Returns nothing if other nodes read the value, or if a tensor of the region has a quantizer.
std::optional<UnaryRegion> unary_region_after(const Graph& graph, const Uses& uses, const Placement& placement,
                                              ValueId value);
/// The same, but integer kernels may be among the nodes; `is_quantized` tells which tensors have a quantizer.
std::optional<UnaryRegion> unary_region_after(const Graph& graph, const Uses& uses, ValueId value,
                                              const std::function<bool(ValueId)>& is_quantized);

/// Evaluates each function: `points[k]` is a tensor of any shape for regions[k].from. Returns the tensors at `to`, of
/// the same shapes.
std::vector<Tensor> evaluate(const Model& model, const std::vector<UnaryRegion>& regions,
                             const std::vector<Tensor>& points);

}  // namespace tersor::ptq
