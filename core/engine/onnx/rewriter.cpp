// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/rewriter.h"

#include "core/base/error.h"
#include "core/tensor/float16.h"

namespace tersor::onnx {

DType Rewriter::dtype(const Node& node, size_t k) const {
  const DType found = input(node, k).dtype;
  return found == DType::kUndefined ? DType::kFloat32 : found;
}

std::string Rewriter::fresh_name(const Node& node, const char* suffix) {
  std::string stem = node.op_type;
  if (!node.outputs.empty() && node.outputs[0].valid()) stem = graph.name_of(node.outputs[0]);
  std::string name = stem + "_" + suffix;
  for (int k = 2; names_.count(name) != 0; ++k) name = stem + "_" + suffix + "_" + std::to_string(k);
  names_.insert(name);
  return name;
}

ValueId Rewriter::constant(const Node& node, const char* suffix, Tensor tensor) {
  const ValueId id = graph.add_value(fresh_name(node, suffix));
  graph.set_initializer(id, std::move(tensor));
  return id;
}

ValueId Rewriter::int64s(const Node& node, const char* suffix, const std::vector<int64_t>& values) {
  return constant(node, suffix,
                  Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

ValueId Rewriter::number(const Node& node, const char* suffix, float value_in, DType dtype_in) {
  switch (dtype_in) {
    case DType::kFloat32:
      return constant(node, suffix, Tensor::scalar(value_in));
    case DType::kFloat64:
      return constant(node, suffix, Tensor::scalar(static_cast<double>(value_in)));
    case DType::kFloat16: {
      Tensor half = Tensor::make(DType::kFloat16, Shape{});
      const uint16_t bits = half_from_float(value_in);
      half.mutable_bytes()[0] = static_cast<std::byte>(bits & 0xff);
      half.mutable_bytes()[1] = static_cast<std::byte>(bits >> 8);
      return constant(node, suffix, std::move(half));
    }
    default:
      refuse("The operator has no form for " + std::string(name_of(dtype_in)) + " in the newer operator set.");
  }
}

ValueId Rewriter::value(const Node& node, const char* suffix, ValueId like) {
  const ValueId id = graph.add_value(fresh_name(node, suffix));
  if (like.valid()) {
    graph.value(id).dtype = graph.value(like).dtype;
    graph.value(id).shape = graph.value(like).shape;
  }
  return id;
}

Node Rewriter::make(const Node& node, const char* suffix, std::string op, std::vector<ValueId> inputs,
                    std::vector<ValueId> outputs) const {
  Node made;
  if (!node.name.empty()) made.name = node.name + "_" + suffix;
  made.op_type = std::move(op);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

void Rewriter::refuse(std::string message) const {
  throw Error(ErrorCode::kUnsupportedModel, std::move(message), place,
              "Export the model for opset 13 or newer from the tool it was made with.");
}

void set_input(Node& node, size_t k, ValueId id) {
  if (node.inputs.size() <= k) node.inputs.resize(k + 1);
  node.inputs[k] = id;
}

}  // namespace tersor::onnx
