// SPDX-License-Identifier: Apache-2.0
#include "core/cost/layouts.h"

#include "core/graph/runtime_operators.h"

namespace tersor::cost {

bool takes(const Node& node, AxisOrder order) {
  if (order == AxisOrder::kPlain) return node.op_type != "Conv" && node.op_type != "QLinearConv";
  if (node.op_type == "QLinearConv") return order == AxisOrder::kInteger;
  if (node.op_type == "Conv") return order == AxisOrder::kFloat;
  return has_runtime_trait(node, RuntimeTrait::kKeepsOrder) || node.op_type == "Transpose";
}

std::vector<AxisOrder> axis_orders(const Graph& graph) {
  std::vector<AxisOrder> orders(graph.value_count(), AxisOrder::kPlain);
  for (const Node& node : graph.nodes()) {
    AxisOrder made = AxisOrder::kPlain;
    if (node.op_type == "QLinearConv") made = AxisOrder::kInteger;
    if (node.op_type == "Conv") made = AxisOrder::kFloat;
    if (has_runtime_trait(node, RuntimeTrait::kKeepsOrder))
      for (const ValueId id : node.inputs)
        if (id.valid() && made == AxisOrder::kPlain) made = orders[static_cast<size_t>(id.index)];
    for (const ValueId id : node.outputs)
      if (id.valid()) orders[static_cast<size_t>(id.index)] = made;
  }
  return orders;
}

}  // namespace tersor::cost
