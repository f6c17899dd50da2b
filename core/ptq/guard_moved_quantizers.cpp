// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/guard_moved_quantizers.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/ptq/one_operand_sum.h"

namespace tersor::ptq {

namespace {

/// Also those that the runtime of today does not carry quantizers over.
bool passes_on(const Node& node) {
  constexpr std::string_view kTypes[] = {"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "MaxPool",
                                         "Slice",     "Gather",  "Split",   "Expand",    "Tile"};
  return node.domain.empty() && std::find(std::begin(kTypes), std::end(kTypes), node.op_type) != std::end(kTypes);
}

int guard_captured(Graph& graph) {
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
      graph.insert(i + 1, one_operand_sum(name, moved, value));
      ++guarded;
    }
  }
  return guarded;
}

/// Through nodes that pass it on, and Casts, of which those to the same type go.
bool reaches_quantizer(const Graph& graph, const Uses& uses, ValueId value) {
  while (true) {
    const auto& readers = uses.reader_indices(value);
    if (std::any_of(readers.begin(), readers.end(),
                    [&](size_t reader) { return graph.nodes()[reader].is("QuantizeLinear"); }))
      return true;
    if (readers.size() != 1) return false;
    const Node& reader = graph.nodes()[readers[0]];
    if (!passes_on(reader) && !reader.is("Cast") && !reader.is("Identity")) return false;
    value = reader.outputs[0];
  }
}

int guard_outputs(Graph& graph) {
  std::vector<size_t> places;
  {
    const Uses uses(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (!node.is("Transpose") || !uses.is_output(node.inputs[0])) continue;
      if (reaches_quantizer(graph, uses, node.outputs[0])) places.push_back(i);
    }
  }
  for (size_t k = places.size(); k-- > 0;)
    read_through_sum(graph, places[k], graph.name_of(graph.nodes()[places[k]].inputs[0]));
  return static_cast<int>(places.size());
}

}  // namespace

int guard_moved_quantizers(Graph& graph) {
  return guard_captured(graph) + guard_outputs(graph);
}

}  // namespace tersor::ptq
