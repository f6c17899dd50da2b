// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/guard_float_nodes.h"

#include <vector>

#include "core/graph/uses.h"
#include "core/ptq/one_operand_sum.h"
#include "core/ptq/role.h"

namespace tersor::ptq {

namespace {

bool reaches_quantizer(const Graph& graph, const Uses& uses, ValueId value) {
  while (uses.reader_count(value) == 1 && !uses.is_output(value)) {
    const Node& reader = graph.nodes()[uses.reader_indices(value)[0]];
    if (reader.is("QuantizeLinear")) return true;
    if (!(reader.is("Relu") || reader.is("Clip")) || reader.inputs[0] != value) return false;
    value = reader.outputs[0];
  }
  return false;
}

/// An operator that the runtime would make integers of, though it is to stay float.
bool has_float_form_only(const Graph& graph, const Node& node) {
  if (node.is("AveragePool")) return is_dilated(node);
  if (!(node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm")) || node.inputs.size() < 2) return false;
  const Tensor* weight = graph.initializer(node.inputs[1]);
  return weight != nullptr && weight->dtype() == DType::kFloat32;
}

bool is_tempting(const Graph& graph, const Uses& uses, const Node& node) {
  if (!has_float_form_only(graph, node)) return false;
  const auto maker = uses.producer_index(node.inputs[0]);
  return maker && graph.nodes()[*maker].is("DequantizeLinear") && reaches_quantizer(graph, uses, node.outputs[0]);
}

}  // namespace

int guard_float_nodes(Graph& graph) {
  std::vector<size_t> places;
  {
    const Uses uses(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (is_tempting(graph, uses, graph.nodes()[i])) places.push_back(i);
  }
  for (size_t k = places.size(); k-- > 0;) {
    const Node& node = graph.nodes()[places[k]];
    const std::string stem = node.name.empty() ? graph.name_of(node.outputs[0]) : node.name;
    read_through_sum(graph, places[k], stem);
  }
  return static_cast<int>(places.size());
}

}  // namespace tersor::ptq
