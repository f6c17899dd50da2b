// SPDX-License-Identifier: Apache-2.0
#include "core/choose/pad_fillers.h"

#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

bool keeps_largest(const Node& node) {
  return node.is("MaxPool") || node.is("GlobalMaxPool") || node.is("ReduceMax");
}

/// Every reader keeps the largest of many values, at once or after nodes that pass values on.
bool never_wins(const Graph& graph, const Uses& uses, const Placement& placement, ValueId value) {
  const auto& readers = uses.reader_indices(value);
  return !uses.is_output(value) && !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](size_t reader) {
    const Node& node = graph.nodes()[reader];
    if (keeps_largest(node)) return true;
    const bool passes_on = placement.roles[reader].role == Role::kMover && node.outputs.size() == 1;
    return passes_on && never_wins(graph, uses, placement, node.outputs[0]);
  });
}

/// A Pad by a constant below 0. What is padded may lie lower still, and is then in its own range.
bool fills_below(const Graph& graph, const Node& node) {
  if (!node.is("Pad") || string_of(node, "mode") != "constant" || node.inputs.size() < 3) return false;
  const Tensor* const filling = passes::float_constant(graph, node.inputs[2]);
  return filling != nullptr && filling->elements() == 1 && passes::to_doubles(*filling)[0] < 0;
}

}  // namespace

PadFillers::PadFillers(const Graph& graph, const Uses& uses, const Placement& placement)
    : filled_(graph.value_count(), false) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.outputs.size() != 1 || !node.outputs[0].valid()) continue;
    const auto is_filled = [&](ValueId id) { return id.valid() && filled_[static_cast<size_t>(id.index)]; };
    const bool fills = fills_below(graph, node) && never_wins(graph, uses, placement, node.outputs[0]);
    const bool passes_on = placement.roles[i].role == Role::kMover && !keeps_largest(node) &&
                           std::any_of(node.inputs.begin(), node.inputs.end(), is_filled);
    filled_[static_cast<size_t>(node.outputs[0].index)] = fills || passes_on;
  }
  std::vector<bool> shown(placement.groups, false);
  for (const PlacedTensor& tensor : placement.tensors)
    if (!is_passed_over(tensor)) shown[tensor.group] = true;
  for (const PlacedTensor& tensor : placement.tensors)
    if (!shown[tensor.group]) filled_[static_cast<size_t>(tensor.value.index)] = false;
}

}  // namespace tersor::ptq
