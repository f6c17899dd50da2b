// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/guard_captured_values.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

/// Also those that the runtime of today does not carry quantizers over.
bool passes_on(const Node& node) {
  constexpr std::string_view kTypes[] = {"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "MaxPool",
                                         "Slice",     "Gather",  "Split",   "Expand",    "Tile"};
  return node.domain.empty() && std::find(std::begin(kTypes), std::end(kTypes), node.op_type) != std::end(kTypes);
}

}  // namespace

int guard_captured_values(Graph& graph) {
  const std::vector<bool> captured = passes::captured_values(graph);
  std::vector<bool> restored(graph.value_count(), false);
  int guarded = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const bool moves = passes_on(node) && restored[static_cast<size_t>(node.inputs[0].index)];
    if (!moves && !node.is("DequantizeLinear")) continue;
    for (size_t k = 0; k < graph.nodes()[i].outputs.size(); ++k) {
      const ValueId value = graph.nodes()[i].outputs[k];
      if (!value.valid()) continue;
      restored[static_cast<size_t>(value.index)] = true;
      if (!moves || !captured[static_cast<size_t>(value.index)]) continue;
      const std::string name = graph.name_of(value);
      const ValueId moved = graph.add_unique_value(name + "_moved", DType::kFloat32);
      restored.resize(graph.value_count(), false);
      restored[static_cast<size_t>(moved.index)] = true;
      passes::replace_reads(graph, value, moved);
      graph.nodes()[i].outputs[k] = moved;
      Node sum;
      sum.op_type = "Sum";
      sum.name = name + "_Sum";
      sum.inputs = {moved};
      sum.outputs = {value};
      graph.insert(i + 1, std::move(sum));
      ++guarded;
    }
  }
  return guarded;
}

}  // namespace tersor::ptq
