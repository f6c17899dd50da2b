// SPDX-License-Identifier: Apache-2.0
#include "core/job/integer_lstms.h"

#include <algorithm>

namespace tersor {

namespace {

bool is_integer_lstm(const Node& node, const ptq::Placement& placement) {
  if (!node.is("LSTM")) return false;
  const auto is_placed = [&](ValueId value) {
    const ptq::PlacedTensor* tensor = placement.find(value);
    return tensor != nullptr && tensor->integer_made;
  };
  const auto fits = [&](ValueId output) { return !output.valid() || is_placed(output); };
  return is_placed(node.inputs[0]) && std::all_of(node.outputs.begin(), node.outputs.end(), fits);
}

}  // namespace

bool has_integer_lstm(const Graph& graph, const ptq::Placement& placement) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [&](const Node& node) { return is_integer_lstm(node, placement); });
}

void take_integer_lstms(const Graph& graph, const ptq::Placement& placement, std::vector<ptq::NodeOutcome>& outcomes) {
  for (size_t k = 0; k < outcomes.size(); ++k)
    if (is_integer_lstm(graph.nodes()[k], placement))
      outcomes[k] = {graph.nodes()[k].id, ptq::NodeOutcome::Arithmetic::kInteger, {}};
}

}  // namespace tersor
