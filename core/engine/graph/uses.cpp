// SPDX-License-Identifier: Apache-2.0
#include "core/graph/uses.h"

#include <algorithm>
#include <set>

#include "core/graph/subgraphs.h"

namespace tersor {

bool reads_just(const Node& node, ValueId a, ValueId b) {
  const std::vector<ValueId>& inputs = node.inputs;
  return inputs.size() == 2 && ((inputs[0] == a && inputs[1] == b) || (inputs[0] == b && inputs[1] == a));
}

std::vector<std::string> captures(const Graph& subgraph) {
  std::set<std::string> defined, read;
  for (ValueId id : subgraph.inputs) defined.insert(subgraph.name_of(id));
  for (const auto& [id, tensor] : subgraph.initializers()) defined.insert(subgraph.name_of(id));
  for (const Node& node : subgraph.nodes()) {
    for (ValueId id : node.inputs)
      if (id.valid()) read.insert(subgraph.name_of(id));
    for_each_subgraph(node, [&](const Graph& inner) {
      for (std::string& name : captures(inner)) read.insert(std::move(name));
    });
    for (ValueId id : node.outputs)
      if (id.valid()) defined.insert(subgraph.name_of(id));
  }
  for (ValueId id : subgraph.outputs) read.insert(subgraph.name_of(id));
  std::vector<std::string> outer;
  std::set_difference(read.begin(), read.end(), defined.begin(), defined.end(), std::back_inserter(outer));
  return outer;
}

Uses::Uses(const Graph& graph)
    : producer_(graph.value_count(), -1),
      readers_(graph.value_count()),
      output_(graph.value_count(), false),
      reads_(graph.nodes().size()) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<ValueId>& reads = reads_[i];
    for (ValueId id : node.inputs)
      if (id.valid()) reads.push_back(id);
    for_each_subgraph(node, [&](const Graph& inner) {
      for (const std::string& name : captures(inner))
        if (const auto id = graph.find(name)) reads.push_back(*id);
    });
    for (ValueId id : reads) {
      auto& readers = readers_[static_cast<size_t>(id.index)];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    }
    for (ValueId id : node.outputs)
      if (id.valid()) producer_[static_cast<size_t>(id.index)] = static_cast<int64_t>(i);
  }
  for (ValueId id : graph.outputs) output_[static_cast<size_t>(id.index)] = true;
}

std::optional<size_t> Uses::producer_index(ValueId id) const {
  const int64_t index = producer_[static_cast<size_t>(id.index)];
  return index < 0 ? std::nullopt : std::optional(static_cast<size_t>(index));
}

std::vector<ValueId> copies_of(const Graph& graph, ValueId id) {
  std::vector<ValueId> copies{id};
  for (const Node& node : graph.nodes())
    if (node.is("Identity") && node.inputs.size() == 1 && node.outputs.size() == 1 && node.outputs[0].valid() &&
        std::find(copies.begin(), copies.end(), node.inputs[0]) != copies.end())
      copies.push_back(node.outputs[0]);
  return copies;
}

}  // namespace tersor
