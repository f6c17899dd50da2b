// SPDX-License-Identifier: Apache-2.0
#include "core/cost/layouts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tersor::cost {

namespace {

/// Onnxruntime's transpose optimizer and its blocked layout leave such operators between convolutions as they are.
bool minds_no_order(const Node& node) {
  static constexpr std::array<std::string_view, 34> kTypes{"Add",
                                                           "Sub",
                                                           "Mul",
                                                           "Div",
                                                           "Max",
                                                           "Min",
                                                           "Relu",
                                                           "Clip",
                                                           "Sigmoid",
                                                           "Tanh",
                                                           "HardSigmoid",
                                                           "Erf",
                                                           "HardSwish",
                                                           "LeakyRelu",
                                                           "Concat",
                                                           "Exp",
                                                           "Sqrt",
                                                           "Neg",
                                                           "MaxPool",
                                                           "AveragePool",
                                                           "GlobalAveragePool",
                                                           "Softplus",
                                                           "Elu",
                                                           "QLinearAdd",
                                                           "QLinearMul",
                                                           "PRelu",
                                                           "QLinearSigmoid",
                                                           "QLinearLeakyRelu",
                                                           "Pow",
                                                           "Gelu",
                                                           "QLinearConcat",
                                                           "QuantizeLinear",
                                                           "DequantizeLinear",
                                                           "QLinearAveragePool"};
  return std::find(kTypes.begin(), kTypes.end(), node.op_type) != kTypes.end() ||
         node.op_type == "QLinearGlobalAveragePool";
}

}  // namespace

bool takes(const Node& node, AxisOrder order) {
  if (order == AxisOrder::kPlain) return node.op_type != "Conv" && node.op_type != "QLinearConv";
  if (node.op_type == "QLinearConv") return order == AxisOrder::kInteger;
  if (node.op_type == "Conv") return order == AxisOrder::kFloat;
  return minds_no_order(node) || node.op_type == "Transpose";
}

std::vector<AxisOrder> axis_orders(const Graph& graph) {
  std::vector<AxisOrder> orders(graph.value_count(), AxisOrder::kPlain);
  for (const Node& node : graph.nodes()) {
    AxisOrder made = AxisOrder::kPlain;
    if (node.op_type == "QLinearConv") made = AxisOrder::kInteger;
    if (node.op_type == "Conv") made = AxisOrder::kFloat;
    if (minds_no_order(node))
      for (const ValueId id : node.inputs)
        if (id.valid() && made == AxisOrder::kPlain) made = orders[static_cast<size_t>(id.index)];
    for (const ValueId id : node.outputs)
      if (id.valid()) orders[static_cast<size_t>(id.index)] = made;
  }
  return orders;
}

}  // namespace tersor::cost
