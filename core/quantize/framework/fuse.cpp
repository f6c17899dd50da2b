// SPDX-License-Identifier: Apache-2.0
#include "core/framework/fuse.h"

#include <algorithm>
#include <optional>

#include "core/graph/uses.h"

namespace tersor::framework {

namespace {

/// The steps that a chain can take: single nodes, and the pairs that stand for one operator. A step goes by the index
/// of its first node.
class Steps {
 public:
  Steps(const Graph& graph, const std::vector<Swish>& swishes) : graph_(graph), uses_(graph) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) step_of_.push_back(i), last_.push_back(i);
    for (const Swish& swish : swishes) step_of_[swish.mul] = swish.sigmoid, last_[swish.sigmoid] = swish.mul;
  }

  bool begins(size_t node) const { return step_of_[node] == node; }
  std::vector<size_t> nodes(size_t step) const {
    return last_[step] == step ? std::vector<size_t>{step} : std::vector<size_t>{step, last_[step]};
  }
  /// The only reader of all that the step makes.
  std::optional<size_t> only_reader(size_t step) const {
    std::optional<size_t> reader;
    for (const ValueId id : graph_.nodes()[last_[step]].outputs) {
      if (!id.valid() || uses_.reader_count(id) == 0) continue;
      if (uses_.is_output(id)) return std::nullopt;
      for (const size_t node : uses_.reader_indices(id)) {
        if (reader && *reader != step_of_[node]) return std::nullopt;
        reader = step_of_[node];
      }
    }
    return reader;
  }

 private:
  const Graph& graph_;
  Uses uses_;
  std::vector<size_t> step_of_, last_;
};

}  // namespace

std::vector<Swish> find_swishes(const Graph& graph) {
  const Uses uses(graph);
  std::vector<Swish> found;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& gate = graph.nodes()[i];
    if (!gate.is("Sigmoid") || uses.reader_count(gate.outputs[0]) != 1 || uses.is_output(gate.outputs[0])) continue;
    const size_t reader = uses.reader_indices(gate.outputs[0])[0];
    const Node& mul = graph.nodes()[reader];
    if (mul.is("Mul") && reads_just(mul, gate.inputs[0], gate.outputs[0])) found.push_back({i, reader});
  }
  return found;
}

std::vector<FusedChain> fuse(const Graph& graph, const std::vector<std::string>& sets,
                             const std::vector<tpc::Fusing>& patterns, const std::vector<Swish>& swishes) {
  const Steps steps(graph, swishes);
  std::vector<bool> taken(graph.nodes().size());
  std::vector<FusedChain> chains;
  for (size_t start = 0; start < graph.nodes().size(); ++start) {
    if (!steps.begins(start) || taken[start] || sets[start].empty()) continue;
    FusedChain best;
    size_t longest = 0;
    for (size_t p = 0; p < patterns.size(); ++p) {
      std::vector<size_t> chain;
      size_t length = 0;
      std::optional<size_t> next = start;
      for (const tpc::OperatorSetConcat& group : patterns[p].operator_groups_list) {
        if (!next || taken[*next] || sets[*next].empty() || !group.contains(sets[*next])) break;
        for (const size_t node : steps.nodes(*next)) chain.push_back(node);
        ++length;
        next = steps.only_reader(*next);
      }
      if (length < patterns[p].operator_groups_list.size() || length <= longest) continue;
      longest = length;
      best = {p, std::move(chain)};
    }
    if (best.nodes.empty()) continue;
    for (const size_t index : best.nodes) taken[index] = true;
    chains.push_back(std::move(best));
  }
  return chains;
}

}  // namespace tersor::framework
