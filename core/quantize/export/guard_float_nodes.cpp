// SPDX-License-Identifier: Apache-2.0
#include "core/export/guard_float_nodes.h"

#include <algorithm>

#include "core/decide/one_operand_sum.h"
#include "core/decide/role.h"
#include "core/decide/runtime_fusions.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/folded_values.h"
#include "core/graph/operators.h"
#include "core/graph/ranks.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

namespace {

bool is_cubic(const Node& node) {
  return node.is("Resize") && string_of(node, "mode") == "cubic";
}

/// One after the other is folded away, or stays between the node and its quantizer without hiding it.
bool joins_before(const Graph& graph, const Node& node) {
  if (has_trait(node, Trait::kClamp) || node.is("BatchNormalization") || lets_through(node)) return true;
  if (!(node.is("Add") || node.is("Mul") || node.is("Sub") || node.is("Div"))) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId operand) { return graph.initializer(operand) != nullptr; });
}

bool reaches_quantizer(const Graph& graph, const Uses& uses, ValueId value) {
  if (uses.is_output(value)) return false;
  const auto& readers = uses.reader_indices(value);
  const auto quantizes = [&](size_t reader) { return graph.nodes()[reader].is("QuantizeLinear"); };
  if (!readers.empty() && std::all_of(readers.begin(), readers.end(), quantizes)) return true;
  if (readers.size() != 1) return false;
  const Node& reader = graph.nodes()[readers[0]];
  return joins_before(graph, reader) && !reader.outputs.empty() && reaches_quantizer(graph, uses, reader.outputs[0]);
}

/// An operator that the runtime would make integers of, though it is to stay float. `folded`: folded_values().
bool has_float_form_only(const Graph& graph, const std::vector<bool>& folded, const Node& node) {
  if (node.is("AveragePool")) return is_dilated(node);
  if (is_cubic(node)) return true;
  if (!has_trait(node, Trait::kWeighted) || node.inputs.size() < 2 || !node.inputs[1].valid()) return false;
  const Tensor* weight = graph.initializer(node.inputs[1]);
  if (weight == nullptr) return folded[static_cast<size_t>(node.inputs[1].index)];
  return weight->dtype() == DType::kFloat32;
}

bool reads_restored(const Graph& graph, const Uses& uses, const Node& node) {
  const auto is_restored = [&](ValueId value) {
    const auto maker = uses.producer_index(value);
    return maker && graph.nodes()[*maker].is("DequantizeLinear");
  };
  return dequantized_before(graph, uses, node.inputs[0], is_restored).valid();
}

bool is_tempting(const Graph& graph, const Uses& uses, const Node& node) {
  return reads_restored(graph, uses, node) && reaches_quantizer(graph, uses, node.outputs[0]);
}

/// An Einsum before the node of that place that gives what it takes, where the number of axes is known.
bool stop_transposes(Graph& graph, const std::vector<int>& ranks, size_t place) {
  const ValueId operand = graph.nodes()[place].inputs[0];
  const auto known = static_cast<size_t>(operand.index);
  const int rank = known < ranks.size() ? ranks[known] : -1;
  const std::string letters = "abcdefgh";
  if (rank < 1 || rank > static_cast<int>(letters.size())) return false;
  const std::string stem = graph.label_of(graph.nodes()[place]);
  const std::string axes = letters.substr(0, static_cast<size_t>(rank));
  Node same;
  same.op_type = "Einsum";
  same.name = stem + "_Einsum";
  same.attributes["equation"] = axes + "->" + axes;
  same.inputs = {operand};
  same.outputs = {graph.add_unique_value(stem + "_Einsum_Output", DType::kFloat32)};
  graph.nodes()[place].inputs[0] = same.outputs[0];
  graph.insert(place, std::move(same));
  return true;
}

}  // namespace

int guard_float_nodes(Model& model, const std::vector<NodeId>& softmaxes, const std::vector<NodeId>& kernels) {
  Graph& graph = model.graph;
  std::vector<size_t> places;
  {
    const Uses uses(graph);
    const std::vector<bool> folded = folded_values(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      const bool stays = std::count(softmaxes.begin(), softmaxes.end(), node.id) != 0;
      const bool is_kernel = std::count(kernels.begin(), kernels.end(), node.id) != 0;
      if ((is_kernel && reads_restored(graph, uses, node)) ||
          ((stays || has_float_form_only(graph, folded, node)) && is_tempting(graph, uses, node)))
        places.push_back(i);
    }
  }
  for (size_t k = places.size(); k-- > 0;) read_through_sum(graph, places[k], graph.label_of(graph.nodes()[places[k]]));
  const std::vector<int> ranks = infer_ranks(model);
  int guarded = static_cast<int>(places.size());
  const bool has_convolutions =
      std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) { return node.is("Conv"); });
  for (size_t i = graph.nodes().size(); has_convolutions && i-- > 0;)
    if (is_cubic(graph.nodes()[i]) && stop_transposes(graph, ranks, i)) ++guarded;
  return guarded;
}

}  // namespace tersor::ptq
