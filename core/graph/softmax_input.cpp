// SPDX-License-Identifier: Apache-2.0
#include "core/graph/softmax_input.h"

#include <algorithm>
#include <string_view>

namespace tersor {

ValueId in_front_of_softmax(const Graph& graph, const Uses& uses, ValueId output) {
  constexpr std::string_view kPassing[] = {"Identity", "QuantizeLinear", "DequantizeLinear", "Reshape",
                                           "Squeeze",  "Unsqueeze",      "Flatten"};
  auto maker = uses.producer_index(output);
  while (maker) {
    const Node& node = graph.nodes()[*maker];
    if ((node.is("Softmax") || node.is("LogSoftmax")) && node.int_or("axis", -1) == -1) return node.inputs[0];
    if (std::none_of(std::begin(kPassing), std::end(kPassing), [&](std::string_view op) { return node.is(op); })) break;
    maker = uses.producer_index(node.inputs[0]);
  }
  return output;
}

}  // namespace tersor
