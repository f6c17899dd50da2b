// SPDX-License-Identifier: Apache-2.0
#include "core/passes/edit.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/edit.h"

namespace tersor::passes {

namespace {

void capture(const Graph& graph, const Graph& subgraph, std::vector<bool>& captured) {
  for (const std::string& name : captures(subgraph))
    if (const auto id = graph.find(name)) captured[static_cast<size_t>(id->index)] = true;
}

size_t times_read(const Node& node, ValueId value) {
  return static_cast<size_t>(std::count(node.inputs.begin(), node.inputs.end(), value));
}

}  // namespace

std::vector<bool> captured_values(const Graph& graph) {
  std::vector<bool> captured(graph.value_count(), false);
  for (const Node& node : graph.nodes())
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) capture(graph, **one, captured);
      if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
        for (const auto& each : *many) capture(graph, *each, captured);
    }
  return captured;
}

bool bypass_node(Graph& graph, size_t index, ValueId source) {
  const ValueId result = graph.nodes()[index].outputs[0];
  const Uses uses(graph);
  const std::vector<bool> captured = captured_values(graph);
  if (captured[static_cast<size_t>(result.index)]) return false;
  if (!uses.is_output(result)) {
    replace_reads(graph, result, source);
    return true;
  }
  const auto producer = uses.producer_index(source);
  if (!producer || uses.is_output(source) || captured[static_cast<size_t>(source.index)]) return false;
  for (ValueId& id : graph.nodes()[*producer].outputs)
    if (id == source) id = result;
  replace_reads(graph, source, result);
  return true;
}

std::optional<size_t> sole_reader(const Graph& graph, const Uses& uses, ValueId value) {
  if (uses.reader_count(value) != 1 || uses.is_output(value)) return std::nullopt;
  const size_t reader = uses.reader_indices(value)[0];
  return times_read(graph.nodes()[reader], value) == 1 ? std::optional(reader) : std::nullopt;
}

const Tensor* float_constant(const Graph& graph, ValueId id) {
  const Tensor* tensor = id.valid() ? graph.initializer(id) : nullptr;
  return tensor != nullptr && tensor->dtype() == DType::kFloat32 ? tensor : nullptr;
}

std::vector<double> to_doubles(const Tensor& tensor) {
  const Tensor aligned = tensor.aligned();
  const auto values = aligned.data<float>();
  return {values.begin(), values.end()};
}

Tensor from_doubles(const std::vector<double>& values, Shape shape) {
  Tensor tensor = Tensor::make(DType::kFloat32, std::move(shape));
  const auto target = tensor.mutable_data<float>();
  TERSOR_CHECK(target.size() == values.size());
  for (size_t k = 0; k < values.size(); ++k) target[k] = static_cast<float>(values[k]);
  return tensor;
}

void set_constant(Graph& graph, const Uses& uses, Node& node, size_t slot, Tensor tensor, const std::string& stem) {
  if (slot >= node.inputs.size()) node.inputs.resize(slot + 1);
  ValueId& id = node.inputs[slot];
  const bool ours =
      id.valid() && graph.initializer(id) != nullptr && uses.reader_count(id) == 1 && times_read(node, id) == 1;
  if (ours)
    graph.set_initializer(id, std::move(tensor));
  else
    id = graph.add_initializer(stem, std::move(tensor));
}

int fold_followers(Graph& graph, const Fold& fold) {
  int total = 0, merged = 0;
  do {
    merged = 0;
    const Uses uses(graph);
    std::vector<bool> gone(graph.nodes().size(), false);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      Node& node = graph.nodes()[i];
      if (gone[i] || node.outputs.empty() || !node.outputs[0].valid()) continue;
      const auto reader = sole_reader(graph, uses, node.outputs[0]);
      if (!reader || gone[*reader] || !fold(graph, uses, node, graph.nodes()[*reader])) continue;
      gone[*reader] = true;
      ++merged;
    }
    erase_marked(graph, gone);
    total += merged;
  } while (merged != 0);
  return total;
}

void erase_marked(Graph& graph, const std::vector<bool>& gone) {
  size_t index = 0;
  graph.erase_nodes([&](const Node&) { return gone[index++]; });
}

}  // namespace tersor::passes
