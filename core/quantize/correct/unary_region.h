// SPDX-License-Identifier: Apache-2.0
// The function of one variable that float nodes after a tensor make of each of its elements: x sigmoid(x) in two
// nodes, x clip(x + 3, 0, 6) / 6 in three or four, a GELU in five, a HardSwish in one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/decide/placement.h"

namespace tersor::ptq {

struct UnaryRegion {
  ValueId from;               // nothing outside of the region reads it
  ValueId to;                 // the first tensor that all of `from` goes through; of the shape of `from`
  std::vector<size_t> nodes;  // by index, in the order of the graph
};

/// Empty where something else than such nodes reads the value, or a tensor of the region has a quantizer.
std::optional<UnaryRegion> unary_region_after(const Graph& graph, const Uses& uses, const Placement& placement,
                                              ValueId value);
/// The same, with integer kernels among the nodes; `is_quantized` says which tensors have a quantizer.
std::optional<UnaryRegion> unary_region_after(const Graph& graph, const Uses& uses, ValueId value,
                                              const std::function<bool(ValueId)>& is_quantized);

/// `points[k]` is a tensor of any shape for `regions[k].from`; gives the tensors at `to`, of the same shapes.
std::vector<Tensor> evaluate(const Model& model, const std::vector<UnaryRegion>& regions,
                             const std::vector<Tensor>& points);

}  // namespace tersor::ptq
