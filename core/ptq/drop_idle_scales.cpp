// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/drop_idle_scales.h"

#include <algorithm>

#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/ptq/split_scales.h"

namespace tersor::ptq {

int drop_idle_scales(Model& quantized) {
  Graph& graph = quantized.graph;
  std::vector<bool> gone(graph.nodes().size(), false);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.is("Mul") || graph.name_of(node.outputs[0]).find(kScaledSuffix) == std::string::npos) continue;
    const Tensor* factors = passes::float_constant(graph, node.inputs[1]);
    if (factors == nullptr) continue;
    const std::vector<double> values = passes::to_doubles(*factors);
    if (std::all_of(values.begin(), values.end(), [](double one) { return one == 1; }))
      gone[i] = passes::bypass_node(graph, i, node.inputs[0]);
  }
  passes::erase_marked(graph, gone);
  graph.erase_unused_initializers();
  return static_cast<int>(std::count(gone.begin(), gone.end(), true));
}

}  // namespace tersor::ptq
