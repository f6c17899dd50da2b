// SPDX-License-Identifier: Apache-2.0
// Nodes that no graph output depends on, and constants that nobody reads, disappear.
#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

int remove_unused(Model& model) {
  Graph& graph = model.graph;
  const Uses uses(graph);
  std::vector<bool> needed(graph.value_count(), false), gone(graph.nodes().size(), false);
  for (const ValueId id : graph.outputs) needed[static_cast<size_t>(id.index)] = true;
  int removed = 0;
  for (size_t i = gone.size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    bool live = false;
    for (const ValueId id : node.outputs) live = live || (id.valid() && needed[static_cast<size_t>(id.index)]);
    gone[i] = !live;
    removed += live ? 0 : 1;
    if (!live) continue;
    for (const ValueId id : uses.reads(i)) needed[static_cast<size_t>(id.index)] = true;
  }
  erase_marked(graph, gone);
  graph.erase_unused_initializers();
  return removed;
}

}  // namespace tersor::passes
