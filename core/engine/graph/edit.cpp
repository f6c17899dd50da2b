// SPDX-License-Identifier: Apache-2.0
#include "core/graph/edit.h"

#include <algorithm>

namespace tersor {

void replace_reads(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes()) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

void prepend(Graph& graph, std::vector<Node> nodes) {
  const auto count = static_cast<std::ptrdiff_t>(nodes.size());
  for (Node& node : nodes) graph.append(std::move(node));
  std::rotate(graph.nodes().begin(), graph.nodes().end() - count, graph.nodes().end());
}

}  // namespace tersor
