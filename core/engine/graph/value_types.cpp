// SPDX-License-Identifier: Apache-2.0
#include "core/graph/value_types.h"

#include <memory>
#include <optional>

#include "core/graph/operators.h"

namespace tersor {

namespace {

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

/// What an attribute names.
std::optional<DType> named_type(const Node& node) {
  for (const char* name : {"to", "dtype", "output_datatype"})
    if (const auto* type = node.attribute<int64_t>(name))
      return *type >= 0 && *type <= static_cast<int64_t>(DType::kInt2) ? static_cast<DType>(*type) : DType::kUndefined;
  return std::nullopt;
}

/// Of the operators that the table leaves to a rule of their own.
DType own_type(const Node& node, size_t k, const std::function<DType(size_t)>& input) {
  if (const auto named = named_type(node)) return *named;
  if (node.is("Constant") || node.is("ConstantOfShape")) return constant_type(node);
  if (node.is("DequantizeLinear")) return input(1) == DType::kUndefined ? DType::kFloat32 : input(1);
  if (node.is("QuantizeLinear")) return node.inputs.size() > 2 ? input(2) : DType::kUint8;
  if (node.is("QLinearConv") || node.is("QLinearMatMul")) return input(7);
  if (node.is("DynamicQuantizeLinear")) return k == 1 ? DType::kFloat32 : DType::kUint8;
  if (node.is("EyeLike")) return input(0);
  if (node.is("If")) return declared(node, "then_branch", k);
  if (node.is("Scan")) return declared(node, "body", k);
  if (node.is("Loop")) return declared(node, "body", k + 1);  // after the condition
  for (const char* made : {"BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix"})
    if (node.is(made)) return DType::kFloat32;
  return DType::kUndefined;
}

/// Of operators that runtimes add and that exporters and we write.
DType microsoft_type(const Node& node, const std::function<DType(size_t)>& input) {
  for (const char* keeps :
       {"BiasGelu", "FastGelu", "Gelu", "GroupQueryAttention", "MatMulNBits", "MultiHeadAttention", "QuickGelu",
        "RotaryEmbedding", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    if (node.op_type == keeps) return input(0);
  return node.op_type == "GatherBlockQuantized" ? input(2) : DType::kUndefined;
}

}  // namespace

DType output_type(const Node& node, size_t k, const std::function<DType(size_t)>& input) {
  if (node.domain == "com.microsoft") return microsoft_type(node, input);
  if (!node.domain.empty()) return DType::kUndefined;
  const Operator* known = find_operator(node.op_type);
  switch (known != nullptr ? known->type : OutputType::kSameType) {
    case OutputType::kOwnType:
      return own_type(node, k, input);
    case OutputType::kSameType:
      return input(0);
    case OutputType::kTypeOfSecond:
      return input(1);
    case OutputType::kTypeOfThird:
      return input(2);
    case OutputType::kInt32:
      return DType::kInt32;
    case OutputType::kInt64:
      return DType::kInt64;
    case OutputType::kBool:
      return DType::kBool;
    case OutputType::kThenInt64:
      return k == 0 ? input(0) : DType::kInt64;
    case OutputType::kThenBool:
      return k == 0 ? input(0) : DType::kBool;
  }
  return DType::kUndefined;
}

std::vector<DType> value_types(const Graph& graph) {
  std::vector<DType> types(graph.value_count(), DType::kUndefined);
  for (size_t i = 0; i < types.size(); ++i) types[i] = graph.value(ValueId{static_cast<int32_t>(i)}).dtype;
  for (const auto& [id, tensor] : graph.initializers()) types[static_cast<size_t>(id.index)] = tensor.dtype();
  for (const Node& node : graph.nodes())
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k].valid()) continue;
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
