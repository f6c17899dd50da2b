// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// Who makes and who reads each value: a picture of the graph at the time of construction. Values that a node's
/// subgraphs capture count as read by that node. Graph outputs count as one more reader each in reader_count(), but are
/// no node. Holds no reference to the graph.
class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// Index into graph.nodes() of the producer; none for inputs and initializers.
  std::optional<size_t> producer_index(ValueId id) const;
  /// Indices of the nodes that read it, ascending, each once.
  const std::vector<size_t>& reader_indices(ValueId id) const { return readers_[static_cast<size_t>(id.index)]; }
  bool is_output(ValueId id) const { return output_[static_cast<size_t>(id.index)]; }
  size_t reader_count(ValueId id) const { return reader_indices(id).size() + (is_output(id) ? 1 : 0); }
  /// All values node `index` reads, captured ones included.
  const std::vector<ValueId>& reads(size_t index) const { return reads_[index]; }

 private:
  std::vector<int64_t> producer_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> output_;
  std::vector<std::vector<ValueId>> reads_;
};

/// The value and what Identities make of it, in the order of the nodes.
std::vector<ValueId> copies_of(const Graph& graph, ValueId id);

/// Its inputs are these two, in either order.
bool reads_just(const Node& node, ValueId a, ValueId b);

/// Names of outer values that a subgraph reads, at any depth.
std::vector<std::string> captures(const Graph& subgraph);

}  // namespace tersor
