// SPDX-License-Identifier: Apache-2.0
#include "core/framework/value_types.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

namespace tersor::framework {

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

const Tensor* value_attribute(const Node& node) {
  return node.attribute<Tensor>("value");
}

/// What a subgraph declares of its output `k`.
DType declared(const Node& node, const char* subgraph, size_t k) {
  const auto* graph = node.attribute<std::shared_ptr<const Graph>>(subgraph);
  return graph != nullptr && k < (*graph)->outputs.size() ? (*graph)->value((*graph)->outputs[k]).dtype
                                                          : DType::kUndefined;
}

/// The type of output `k`, of an operator of ONNX's own domain.
DType type_of_output(const Node& node, size_t k, const std::vector<DType>& types) {
  const auto input = [&](size_t slot) {
    if (slot >= node.inputs.size() || !node.inputs[slot].valid()) return DType::kUndefined;
    return types[static_cast<size_t>(node.inputs[slot].index)];
  };
  if (among(node, kWholeNumbers)) return DType::kInt64;
  if (among(node, kTruths)) return DType::kBool;
  if (k > 0 && among(node, kWithPositions)) return DType::kInt64;
  if (k > 0 && node.op_type == "Dropout") return DType::kBool;
  if (node.op_type == "Cast") {
    const int64_t to = node.int_or("to", 0);
    return to >= 0 && to <= static_cast<int64_t>(DType::kInt2) ? static_cast<DType>(to) : DType::kUndefined;
  }
  if (node.op_type == "Constant" || node.op_type == "ConstantOfShape") {
    const Tensor* value = value_attribute(node);
    return value != nullptr ? value->dtype() : DType::kUndefined;
  }
  if (node.op_type == "DequantizeLinear") return input(1);
  if (node.op_type == "QuantizeLinear") return node.inputs.size() > 2 ? input(2) : DType::kUint8;
  if (node.op_type == "Where" || node.op_type == "CastLike") return input(1);
  if (node.op_type == "OneHot") return input(2);
  if (node.op_type == "If") return declared(node, "then_branch", k);
  if (node.op_type == "Scan") return declared(node, "body", k);
  if (node.op_type == "Loop") return declared(node, "body", k + 1);  // behind the condition
  return input(0);
}

}  // namespace

std::vector<DType> value_types(const Graph& graph) {
  std::vector<DType> types(graph.value_count(), DType::kUndefined);
  for (size_t i = 0; i < types.size(); ++i) types[i] = graph.value(ValueId{static_cast<int32_t>(i)}).dtype;
  for (const auto& [id, tensor] : graph.initializers()) types[static_cast<size_t>(id.index)] = tensor.dtype();
  for (const Node& node : graph.nodes())
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k].valid() || !node.domain.empty()) continue;
      DType& type = types[static_cast<size_t>(node.outputs[k].index)];
      if (type == DType::kUndefined) type = type_of_output(node, k, types);
    }
  return types;
}

}  // namespace tersor::framework
