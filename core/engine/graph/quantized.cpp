// SPDX-License-Identifier: Apache-2.0
#include "core/graph/quantized.h"

#include <algorithm>
#include <array>

namespace tersor {

bool is_quantized(const Node& node) {
  static constexpr std::array<std::string_view, 10> kTypes = {
      "QuantizeLinear", "DequantizeLinear",     "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "ConvInteger",
      "MatMulInteger",  "MatMulIntegerToFloat", "MatMulNBits",           "GatherBlockQuantized",  "QGemm"};
  return node.domain == kTfliteDomain || node.op_type.rfind("QLinear", 0) == 0 ||
         std::find(kTypes.begin(), kTypes.end(), node.op_type) != kTypes.end();
}

std::optional<TableLookup> table_lookup(const Graph& graph, const Uses& uses, ValueId value) {
  const auto gather = uses.producer_index(value);
  if (!gather || !graph.nodes()[*gather].is("Gather")) return std::nullopt;
  const Node& node = graph.nodes()[*gather];
  const auto cast = uses.producer_index(node.inputs[1]);
  if (!cast || !graph.nodes()[*cast].is("Cast") || graph.initializer(node.inputs[0]) == nullptr) return std::nullopt;
  return TableLookup{&graph.nodes()[*cast], &node};
}

}  // namespace tersor
