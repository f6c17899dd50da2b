// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/drop_idle_scales.h"

#include <algorithm>

#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

void drop_idle_scales(Graph& graph, std::span<const NodeId> prepared) {
  std::vector<bool> gone(graph.nodes().size(), false);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (std::find(prepared.begin(), prepared.end(), node.id) == prepared.end()) continue;
    const Tensor* factors = passes::float_constant(graph, node.inputs[1]);
    if (factors == nullptr) continue;
    const std::vector<double> values = passes::to_doubles(*factors);
    if (std::all_of(values.begin(), values.end(), [](double one) { return one == 1; }))
      gone[i] = passes::bypass_node(graph, i, node.inputs[0]);
  }
  passes::erase_marked(graph, gone);
  graph.erase_unused_initializers();
}

}  // namespace tersor::ptq
