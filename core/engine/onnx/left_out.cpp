// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/left_out.h"

#include <algorithm>

#include "core/graph/operators.h"
#include "core/graph/uses.h"

namespace tersor::onnx {

namespace {

/// By node: it is one of these, or reads what one of these makes.
std::vector<bool> followers_of(const Graph& graph, const Uses& uses, const std::set<NodeId>& nodes) {
  std::vector<bool> follows(graph.nodes().size(), false);
  for (size_t i = 0; i < follows.size(); ++i) {
    const auto& reads = uses.reads(i);
    follows[i] = nodes.count(graph.nodes()[i].id) != 0 || std::any_of(reads.begin(), reads.end(), [&](ValueId id) {
                   const auto maker = uses.producer_index(id);
                   return maker && follows[*maker];
                 });
  }
  return follows;
}

bool is_kernel(const Graph& graph, const Node& node) {
  return has_trait(node, Trait::kWeighted) && node.inputs.size() > 1 && node.inputs[1].valid() &&
         graph.initializer(node.inputs[1]) != nullptr;
}

}  // namespace

std::optional<LeftOut> leave_out(Model& model, const std::set<NodeId>& nodes) {
  if (!model.narrow.empty()) return std::nullopt;
  Graph graph = model.graph;
  const Uses uses(graph);
  const std::vector<bool> follows = followers_of(graph, uses, nodes);
  LeftOut left{{}, {}, graph.outputs};
  std::vector<ValueId> read;  // made by what stays
  bool any_kernel = false;
  for (size_t i = 0; i < follows.size(); ++i) {
    if (!follows[i]) {
      any_kernel = any_kernel || is_kernel(graph, graph.nodes()[i]);
      continue;
    }
    Node node = graph.nodes()[i];
    left.has_kernels = left.has_kernels || is_kernel(graph, node);
    for (const ValueId id : uses.reads(i)) {
      const auto maker = uses.producer_index(id);
      if (maker && !follows[*maker] && std::find(read.begin(), read.end(), id) == read.end()) read.push_back(id);
      const Tensor* const constant = graph.initializer(id);
      if (constant == nullptr) continue;
      const auto& readers = uses.reader_indices(id);
      const bool is_shared =
          std::any_of(readers.begin(), readers.end(), [&](size_t reader) { return !follows[reader]; });
      const bool is_input = std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
      if (is_shared && !is_input) return std::nullopt;  // a body reads it by a name that a kernel's weight has
      const ValueId own = is_shared ? graph.add_unique_value(graph.name_of(id)) : id;
      std::replace(node.inputs.begin(), node.inputs.end(), id, own);
      if (std::none_of(left.constants.begin(), left.constants.end(), [&](const auto& one) { return one.first == own; }))
        left.constants.emplace_back(own, *constant);
    }
    left.nodes.push_back(std::move(node));
  }
  if (!any_kernel) return std::nullopt;
  std::erase_if(graph.outputs, [&](ValueId id) {
    const auto maker = uses.producer_index(id);
    return maker && follows[*maker];
  });
  for (const ValueId id : read)
    if (!uses.is_output(id)) graph.outputs.push_back(id);
  if (graph.outputs.empty()) return std::nullopt;
  const std::set<NodeId> gone = [&] {
    std::set<NodeId> ids;
    for (const Node& node : left.nodes) ids.insert(node.id);
    return ids;
  }();
  graph.erase_nodes([&](const Node& node) { return gone.count(node.id) != 0; });
  graph.erase_unused_initializers();
  model.graph = std::move(graph);
  return left;
}

void put_back(const LeftOut& left_out, Graph& graph) {
  for (const auto& [id, constant] : left_out.constants) graph.set_initializer(id, constant);
  for (const Node& node : left_out.nodes) graph.append(node);
  graph.outputs = left_out.outputs;
}

}  // namespace tersor::onnx
