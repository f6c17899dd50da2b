// SPDX-License-Identifier: Apache-2.0
#include "core/framework/fuse.h"

#include <algorithm>
#include <optional>

#include "core/graph/uses.h"

namespace tersor::framework {

namespace {

/// The only reader of all that the node makes.
std::optional<size_t> only_reader(const Graph& graph, const Uses& uses, size_t index) {
  std::optional<size_t> reader;
  for (const ValueId id : graph.nodes()[index].outputs) {
    if (!id.valid() || uses.reader_count(id) == 0) continue;
    if (reader || uses.reader_count(id) != 1 || uses.is_output(id)) return std::nullopt;
    reader = uses.reader_indices(id)[0];
  }
  return reader;
}

}  // namespace

std::vector<FusedChain> fuse(const Graph& graph, const std::vector<std::string>& sets,
                             const std::vector<tpc::Fusing>& patterns) {
  const Uses uses(graph);
  std::vector<bool> taken(graph.nodes().size());
  std::vector<FusedChain> chains;
  for (size_t start = 0; start < graph.nodes().size(); ++start) {
    if (taken[start] || sets[start].empty()) continue;
    FusedChain best;
    for (size_t p = 0; p < patterns.size(); ++p) {
      std::vector<size_t> chain;
      std::optional<size_t> next = start;
      for (const tpc::OperatorSetConcat& group : patterns[p].operator_groups_list) {
        if (!next || taken[*next] || sets[*next].empty() || !group.contains(sets[*next])) break;
        chain.push_back(*next);
        next = only_reader(graph, uses, *next);
      }
      const bool complete = chain.size() == patterns[p].operator_groups_list.size();
      if (complete && chain.size() > best.nodes.size()) best = {p, std::move(chain)};
    }
    if (best.nodes.empty()) continue;
    for (const size_t index : best.nodes) taken[index] = true;
    chains.push_back(std::move(best));
  }
  return chains;
}

}  // namespace tersor::framework
