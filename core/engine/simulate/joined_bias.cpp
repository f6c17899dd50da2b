// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/joined_bias.h"

#include <algorithm>

#include "core/graph/operators.h"
#include "core/graph/qdq.h"
#include "core/graph/ranks.h"
#include "core/graph/uses.h"

namespace tersor::simulate {

namespace {

/// Every dimension of the model's inputs is declared, so the runtime knows the shape of every tensor.
bool has_static_inputs(const Graph& graph) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    const auto& shape = graph.value(id).shape;
    return shape && std::all_of(shape->begin(), shape->end(), [](const Dim& dim) { return dim.fixed(); });
  });
}

/// Elements along the last axis of a constant, or of one that a DequantizeLinear restores; 0 of others.
int64_t last_length(const Graph& graph, const Uses& uses, ValueId id) {
  const auto restored = dequantized(graph, uses, id);
  const Tensor* constant = graph.initializer(restored ? restored->raw : id);
  return constant != nullptr && constant->shape().rank() > 0 ? constant->shape().dims().back() : 0;
}

}  // namespace

std::map<NodeId, JoinedBias> joined_biases(const Model& model) {
  const Graph& graph = model.graph;
  const Uses uses(graph);
  const std::vector<int> ranks = infer_ranks(model);
  const auto rank_of = [&](ValueId id) { return id.valid() ? ranks[static_cast<size_t>(id.index)] : -1; };
  const bool static_inputs = has_static_inputs(graph);
  std::map<NodeId, JoinedBias> joined;
  for (const Node& node : graph.nodes()) {
    if (!node.is("MatMul") || node.inputs.size() != 2 || node.outputs.size() != 1) continue;
    const bool flat = rank_of(node.inputs[0]) == 2;
    if (rank_of(node.inputs[1]) != 2 || !(flat || static_inputs)) continue;
    const ValueId product = node.outputs[0];
    const Node* add = only_reader(graph, uses, product);
    if (add == nullptr || !add->is("Add") || add->inputs[0] == add->inputs[1]) continue;
    const ValueId bias = add->inputs[add->inputs[0] == product ? 1 : 0];
    const int64_t length = rank_of(bias) == 1 ? last_length(graph, uses, bias) : 0;
    if (length == 0 || length != last_length(graph, uses, node.inputs[1])) continue;
    const Node* after = only_reader(graph, uses, add->outputs[0]);
    joined[node.id] = {add->id, bias, !flat && after != nullptr && has_trait(*after, Trait::kClamp)};
  }
  return joined;
}

}  // namespace tersor::simulate
