// SPDX-License-Identifier: Apache-2.0
#include "core/correct/drop_idle_scales.h"

#include <algorithm>

#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

void drop_idle_scales(Graph& graph, std::span<const Rewrite> rewrites) {
  const auto is_inserted = [&](const Node& node) {
    return std::any_of(rewrites.begin(), rewrites.end(), [&](const Rewrite& rewrite) {
      return std::find(rewrite.inserted.begin(), rewrite.inserted.end(), node.id) != rewrite.inserted.end();
    });
  };
  std::vector<bool> gone(graph.nodes().size(), false);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.is("Mul") || !is_inserted(node)) continue;
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
