// SPDX-License-Identifier: Apache-2.0
// Identity, and Dropout where it does nothing (inference, mask not read), disappear: their readers read the input. One
// that carries a graph input or a constant straight to a graph output stays, as the only node that gives that name.
#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool does_nothing(const Graph& graph, const Uses& uses, const Node& node) {
  if (node.is("Identity")) return true;
  if (!node.is("Dropout")) return false;
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const Tensor* training = graph.initializer(node.inputs[2]);
    if (training == nullptr || training->elements() != 1 || training->to_int64s()[0] != 0) return false;
  }
  return node.outputs.size() < 2 || !node.outputs[1].valid() || uses.reader_count(node.outputs[1]) == 0;
}

}  // namespace

int remove_identities(Model& model) {
  Graph& graph = model.graph;
  std::vector<bool> gone(graph.nodes().size(), false);
  int removed = 0;
  for (size_t i = 0; i < gone.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.is("Identity") && !node.is("Dropout")) continue;
    if (node.inputs.empty() || !node.inputs[0].valid() || node.outputs.empty() || !node.outputs[0].valid()) continue;
    if (!does_nothing(graph, Uses(graph), node) || !bypass_node(graph, i, node.inputs[0])) continue;
    gone[i] = true;
    ++removed;
    graph.nodes()[i].inputs.clear();  // so that the next look at the uses does not count it
    graph.nodes()[i].outputs.clear();
  }
  erase_marked(graph, gone);
  return removed;
}

}  // namespace tersor::passes
