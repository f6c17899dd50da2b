// SPDX-License-Identifier: Apache-2.0
#include "core/graph/value_types.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

namespace tersor {

namespace {

template <size_t N>
bool among(const Node& node, const std::string_view (&types)[N]) {
  return std::find(std::begin(types), std::end(types), node.op_type) != std::end(types);
}

constexpr std::string_view kWholeNumbers[] = {"Shape", "Size", "ArgMax", "ArgMin", "NonZero", "NonMaxSuppression"};
constexpr std::string_view kTruths[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Not",
                                        "And",   "Or",   "Xor",         "IsNaN",   "IsInf"};
/// Second and later outputs are positions.
constexpr std::string_view kWithPositions[] = {"TopK", "MaxPool", "Unique"};

/// Of a Constant or ConstantOfShape.
DType constant_type(const Node& node) {
  if (const Tensor* value = node.attribute<Tensor>("value")) return value->dtype();
  if (node.op_type == "ConstantOfShape" || node.attributes.count("value_float") != 0 ||
      node.attributes.count("value_floats") != 0)
    return DType::kFloat32;
  const bool whole = node.attributes.count("value_int") != 0 || node.attributes.count("value_ints") != 0;
  return whole ? DType::kInt64 : DType::kUndefined;
}

/// What a subgraph declares of its output `k`.
DType declared(const Node& node, const char* subgraph, size_t k) {
  const auto* graph = node.attribute<std::shared_ptr<const Graph>>(subgraph);
  return graph != nullptr && k < (*graph)->outputs.size() ? (*graph)->value((*graph)->outputs[k]).dtype
                                                          : DType::kUndefined;
}

}  // namespace

DType output_type(const Node& node, size_t k, const std::function<DType(size_t)>& input) {
  if (among(node, kWholeNumbers)) return DType::kInt64;
  if (among(node, kTruths)) return DType::kBool;
  if (k > 0 && among(node, kWithPositions)) return DType::kInt64;
  if (k > 0 && node.op_type == "Dropout") return DType::kBool;
  if (node.op_type == "Cast") {
    const int64_t to = node.int_or("to", 0);
    return to >= 0 && to <= static_cast<int64_t>(DType::kInt2) ? static_cast<DType>(to) : DType::kUndefined;
  }
  if (node.op_type == "Constant" || node.op_type == "ConstantOfShape") return constant_type(node);
  if (node.op_type == "DequantizeLinear") return input(1) == DType::kUndefined ? DType::kFloat32 : input(1);
  if (node.op_type == "QuantizeLinear") return node.inputs.size() > 2 ? input(2) : DType::kUint8;
  if (node.op_type == "Where" || node.op_type == "CastLike") return input(1);
  if (node.op_type == "OneHot") return input(2);
  if (node.op_type == "If") return declared(node, "then_branch", k);
  if (node.op_type == "Scan") return declared(node, "body", k);
  if (node.op_type == "Loop") return declared(node, "body", k + 1);  // behind the condition
  return input(0);
}

std::vector<DType> value_types(const Graph& graph) {
  std::vector<DType> types(graph.value_count(), DType::kUndefined);
  for (size_t i = 0; i < types.size(); ++i) types[i] = graph.value(ValueId{static_cast<int32_t>(i)}).dtype;
  for (const auto& [id, tensor] : graph.initializers()) types[static_cast<size_t>(id.index)] = tensor.dtype();
  for (const Node& node : graph.nodes())
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k].valid() || !node.domain.empty()) continue;
      DType& type = types[static_cast<size_t>(node.outputs[k].index)];
      if (type != DType::kUndefined) continue;
      type = output_type(node, k, [&](size_t slot) {
        if (slot >= node.inputs.size() || !node.inputs[slot].valid()) return DType::kUndefined;
        return types[static_cast<size_t>(node.inputs[slot].index)];
      });
    }
  return types;
}

}  // namespace tersor
