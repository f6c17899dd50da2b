// SPDX-License-Identifier: Apache-2.0
#include "core/graph/softmax_input.h"

#include "core/graph/operators.h"

namespace tersor {

ValueId value_before_softmax(const Graph& graph, const Uses& uses, ValueId output) {
  auto maker = uses.producer_index(output);
  while (maker) {
    const Node& node = graph.nodes()[*maker];
    if ((node.is("Softmax") || node.is("LogSoftmax")) && node.int_or("axis", -1) == -1) return node.inputs[0];
    if (!has_trait(node, Trait::kView) && !node.is("QuantizeLinear") && !node.is("DequantizeLinear")) break;
    maker = uses.producer_index(node.inputs[0]);
  }
  return output;
}

}  // namespace tersor
