// SPDX-License-Identifier: Apache-2.0
#include "core/export/guard_moved_quantizers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/decide/one_operand_sum.h"
#include "core/export/added_names.h"
#include "core/graph/edit.h"
#include "core/graph/runtime_operators.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

/// Also those that the runtime of today does not carry quantizers over.
bool passes_on(const Node& node) {
  return node.domain.empty() && has_runtime_trait(node, RuntimeTrait::kCarriesOnce);
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
      replace_reads(graph, value, moved);
      graph.nodes()[i].outputs[k] = moved;
      graph.insert(i + 1, one_operand_sum(name, moved, value));
      ++guarded;
    }
  }
  return guarded;
}

/// Through nodes that pass it on, and Casts, of which those to the same type go.
bool leads_to_quantizer(const Graph& graph, const Uses& uses, ValueId value) {
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

/// It restores int8 (or int16) activations.
bool restores_signed(const Graph& graph, const Uses& uses, const Node& node) {
  if (!node.is("DequantizeLinear") || !node.attributes.empty() || !uses.producer_index(node.inputs[0])) return false;
  const Tensor* zero_point = node.inputs.size() > 2 ? graph.initializer(node.inputs[2]) : nullptr;
  return zero_point != nullptr && (zero_point->dtype() == DType::kInt8 || zero_point->dtype() == DType::kInt16);
}

/// Nodes that the runtime carries a quantizer over.
bool is_passed(const Node& node) {
  return node.domain.empty() && (has_runtime_trait(node, RuntimeTrait::kCarriesUp) || node.is("Flatten"));
}

int requantize_moved(Graph& graph) {
  int guarded = 0;
  const Uses uses(graph);
  std::map<ValueId, Node> restorers;  // of signed activations, by what they make
  std::vector<Node> nodes = std::move(graph.nodes());
  graph.nodes().clear();
  for (Node& node : nodes) {
    const auto restorer = is_passed(node) ? restorers.find(node.inputs[0]) : restorers.end();
    const auto is_quantized = [&](ValueId value) {
      const auto& readers = uses.reader_indices(value);
      return std::any_of(readers.begin(), readers.end(),
                         [&](size_t reader) { return nodes[reader].is("QuantizeLinear"); });
    };
    if (restorer == restorers.end() || node.outputs.size() != 1 || is_quantized(node.outputs[0])) {
      if (restores_signed(graph, uses, node)) restorers[node.outputs[0]] = node;
      graph.nodes().push_back(std::move(node));
      continue;
    }
    const ValueId value = node.outputs[0];
    const std::string name = graph.name_of(value);
    Node quantize, dequantize;
    quantize.op_type = "QuantizeLinear";
    quantize.name = name + "_moved_QuantizeLinear";
    dequantize.op_type = "DequantizeLinear";
    dequantize.name = name + "_moved_DequantizeLinear";
    quantize.inputs = dequantize.inputs = restorer->second.inputs;
    quantize.inputs[0] = graph.add_unique_value(name + "_moved", DType::kFloat32);
    dequantize.inputs[0] = graph.add_unique_value(name + kCodes, graph.value(restorer->second.inputs[0]).dtype);
    quantize.outputs = {dequantize.inputs[0]};
    dequantize.outputs = {value};
    node.outputs[0] = quantize.inputs[0];
    restorers[value] = dequantize;
    graph.nodes().push_back(std::move(node));
    graph.append(std::move(quantize));
    graph.append(std::move(dequantize));
    ++guarded;
  }
  return guarded;
}

int guard_outputs(Graph& graph) {
  std::vector<size_t> places;
  {
    const Uses uses(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (!node.is("Transpose") || !uses.is_output(node.inputs[0])) continue;
      if (leads_to_quantizer(graph, uses, node.outputs[0])) places.push_back(i);
    }
  }
  for (size_t k = places.size(); k-- > 0;)
    read_through_sum(graph, places[k], graph.name_of(graph.nodes()[places[k]].inputs[0]));
  return static_cast<int>(places.size());
}

}  // namespace

int guard_moved_quantizers(Graph& graph, int64_t opset) {
  constexpr int64_t kNamesItsType = 21;
  const int before = opset >= kNamesItsType ? requantize_moved(graph) : 0;
  return before + guard_captured(graph) + guard_outputs(graph);
}

}  // namespace tersor::ptq
