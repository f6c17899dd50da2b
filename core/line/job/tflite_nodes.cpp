// SPDX-License-Identifier: Apache-2.0
#include "core/job/tflite_nodes.h"

#include <algorithm>
#include <set>

#include "core/graph/qdq.h"
#include "core/graph/uses.h"
#include "core/tflite/integer_nodes.h"

namespace tersor {

using Arithmetic = ptq::NodeOutcome::Arithmetic;

bool has_integer_lstm(const Graph& graph, const ptq::Placement& placement) {
  const std::vector<NodeId> nodes = expected_integer_nodes(graph, placement, {});
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.find(id)->is("LSTM"); });
}

std::vector<NodeId> expected_integer_nodes(const Graph& graph, const ptq::Placement& placement,
                                           const std::vector<ptq::NodeOutcome>& outcomes) {
  const Uses uses(graph);
  std::vector<bool> in_integers(graph.value_count());
  for (const ptq::PlacedTensor& tensor : placement.tensors)
    in_integers[static_cast<size_t>(tensor.value.index)] = tensor.integer_made;
  std::set<NodeId> folded;
  for (const ptq::NodeOutcome& outcome : outcomes)
    if (outcome.arithmetic == Arithmetic::kFolded) folded.insert(outcome.node);
  const auto is_read = [&](ValueId value) { return bool{in_integers[static_cast<size_t>(value.index)]}; };
  const auto is_made = [&](ValueId value) {
    const Node* next = nullptr;
    while (!is_read(value) && (next = only_reader(graph, uses, value)) != nullptr && folded.count(next->id) != 0)
      value = next->outputs[0];
    return is_read(value);
  };
  return tflite::integer_nodes(graph, uses, {is_read, is_made});
}

void take_integer_nodes(const std::vector<NodeId>& nodes, std::vector<ptq::NodeOutcome>& outcomes) {
  const std::set<NodeId> in_integers(nodes.begin(), nodes.end());
  for (ptq::NodeOutcome& outcome : outcomes)
    if (outcome.arithmetic == Arithmetic::kFloat && in_integers.count(outcome.node) != 0)
      outcome = {outcome.node, Arithmetic::kInteger, {}};
}

}  // namespace tersor
