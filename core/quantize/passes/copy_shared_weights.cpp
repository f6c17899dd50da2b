// SPDX-License-Identifier: Apache-2.0
// Each operator with a weight gets a weight and a bias of its own: two nodes may need different scales
// for the same constant. The first keeps the name; the bytes stay shared until one of them changes.
#include <algorithm>
#include <set>

#include "core/graph/operators.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

int copy_shared_weights(Model& model) {
  Graph& graph = model.graph;
  const Uses uses(graph);
  const auto read_elsewhere = [&](ValueId id) {
    const auto& readers = uses.reader_indices(id);
    return uses.is_output(id) || std::any_of(readers.begin(), readers.end(),
                                             [&](size_t i) { return !has_trait(graph.nodes()[i], Trait::kWeighted); });
  };
  std::set<ValueId> taken;
  int copied = 0;
  for (Node& node : graph.nodes()) {
    if (!has_trait(node, Trait::kWeighted)) continue;
    for (ValueId& id : node.inputs) {
      const Tensor* tensor = id.valid() ? graph.initializer(id) : nullptr;
      if (tensor == nullptr || (taken.insert(id).second && !read_elsewhere(id))) continue;
      id = graph.add_initializer(graph.name_of(id), Tensor(*tensor));
      ++copied;
    }
  }
  return copied;
}

}  // namespace tersor::passes
