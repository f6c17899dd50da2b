// SPDX-License-Identifier: Apache-2.0
#include "core/decide/one_operand_sum.h"

namespace tersor::ptq {

Node one_operand_sum(const std::string& stem, ValueId operand, ValueId result) {
  Node sum;
  sum.op_type = "Sum";
  sum.name = stem + "_Sum";
  sum.inputs = {operand};
  sum.outputs = {result};
  return sum;
}

bool is_one_operand_sum(const Node& node) {
  return node.is("Sum") && node.inputs.size() == 1;
}

void read_through_sum(Graph& graph, size_t place, std::string stem) {
  const ValueId operand = graph.nodes()[place].inputs[0];
  const ValueId result = graph.add_unique_value(stem + "_Sum_Output", DType::kFloat32);
  graph.nodes()[place].inputs[0] = result;
  graph.insert(place, one_operand_sum(stem, operand, result));
}

}  // namespace tersor::ptq
