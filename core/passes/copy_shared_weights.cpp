// SPDX-License-Identifier: Apache-2.0
// Each Conv, ConvTranspose, Gemm and MatMul gets a weight and a bias of its own: two nodes may need different scales
// for the same constant. The first keeps the name; the bytes stay shared until one of them changes.
#include <algorithm>
#include <set>

#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool multiplies(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul");
}

}  // namespace

int copy_shared_weights(Model& model) {
  Graph& graph = model.graph;
  const Uses uses(graph);
  const auto read_elsewhere = [&](ValueId id) {
    const auto& readers = uses.reader_indices(id);
    return uses.is_output(id) ||
           std::any_of(readers.begin(), readers.end(), [&](size_t i) { return !multiplies(graph.nodes()[i]); });
  };
  std::set<ValueId> taken;
  int copied = 0;
  for (Node& node : graph.nodes()) {
    if (!multiplies(node)) continue;
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
