// SPDX-License-Identifier: Apache-2.0
#include "core/job/file_format.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/passes/passes.h"
#include "core/simulate/fuse.h"

namespace tersor {

namespace {

/// What restores constants from fewer bytes stays, as in the file in pairs.
void unfold_constants(const Graph& quantized, Graph& graph) {
  std::vector<Node> restoring;
  for (const Node& node : quantized.nodes()) {
    const auto is_constant = [&](ValueId output) { return graph.initializer(output) != nullptr; };
    if (graph.find(node.id) != nullptr || std::none_of(node.outputs.begin(), node.outputs.end(), is_constant)) continue;
    for (const ValueId output : node.outputs) graph.erase_initializer(output);
    for (const ValueId input : node.inputs)
      if (const Tensor* constant = quantized.initializer(input)) graph.set_initializer(input, *constant);
    restoring.push_back(node);
  }
  restoring.insert(restoring.end(), std::make_move_iterator(graph.nodes().begin()),
                   std::make_move_iterator(graph.nodes().end()));
  graph.nodes() = std::move(restoring);
}

}  // namespace

Model in_integer_operators(const Model& quantized) {
  Model model = simulate::fuse(quantized, simulate::Profile::kX64).model;
  unfold_constants(quantized.graph, model.graph);
  for (Node& node : model.graph.nodes()) {
    if (node.domain == "com.tersor") node.domain.clear();  // ONNX's own operator, on integers
    if (node.op_type == "QGemm") node.attributes.erase("beta");
  }
  std::erase_if(model.opset_imports, [](const auto& import) { return import.domain == "com.tersor"; });
  passes::remove_unused(model);
  return model;
}

}  // namespace tersor
