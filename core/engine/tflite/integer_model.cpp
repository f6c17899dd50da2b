// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/integer_model.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/validate.h"
#include "core/tflite/kernels.h"
#include "core/tflite/lower.h"
#include "core/tflite/operators.h"

namespace tersor::tflite {

namespace {

std::vector<Dim> dims_of(const NetworkTensor& tensor) {
  std::vector<Dim> dims;
  for (const int32_t dim : tensor.shape) dims.push_back({dim, ""});
  return dims;
}

bool holds_codes(const NetworkTensor& tensor) {
  return is_code(tensor.dtype) && !tensor.quantization.scale.empty();
}

class Maker {
 public:
  explicit Maker(const Network& network) : network_(network), values_(network.tensors.size()) {}

  Model model() {
    Graph& graph = model_.graph;
    model_.opset_imports = {{"", 13}, {std::string(kTfliteDomain), 1}};
    model_.producer_name = "TensorFlow Lite";
    model_.doc = network_.description;
    graph.name = network_.name.empty() ? "main" : network_.name;
    for (const int32_t input : network_.inputs) add_input(input);
    for (const Operator& op : network_.operators) add_operator(op);
    for (const int32_t output : network_.outputs) add_output(output);
    validate(model_);
    return std::move(model_);
  }

 private:
  const NetworkTensor& at(int32_t tensor) const { return network_.tensors[static_cast<size_t>(tensor)]; }

  ValueId declared(const std::string& name, const NetworkTensor& like, DType dtype) {
    const ValueId value = model_.graph.add_unique_value(name.empty() ? "tensor" : name, dtype);
    model_.graph.value(value).shape = dims_of(like);
    return value;
  }

  /// The tensor as the file has it.
  ValueId value_of(int32_t tensor) {
    ValueId& value = values_[static_cast<size_t>(tensor)];
    if (value.valid()) return value;
    const NetworkTensor& own = at(tensor);
    if (own.data) return value = model_.graph.add_initializer(own.name.empty() ? "constant" : own.name, *own.data);
    return value = declared(holds_codes(own) ? own.name + "_quantized" : own.name, own, own.dtype);
  }

  void append(const Operator& op, const std::vector<ValueId>& inputs, std::span<const NetworkTensor* const> tensors,
              ValueId output, const NetworkTensor& made, bool is_edge) {
    Node node = node_of(op, tensors, made);
    node.name = made.name;
    node.inputs = inputs;
    node.outputs = {output};
    if (is_edge) node.attributes[kFileEdge] = int64_t{1};
    model_.graph.append(std::move(node));
  }

  void add_input(int32_t input) {
    Graph& graph = model_.graph;
    const NetworkTensor& own = at(input);
    if (!holds_codes(own)) {
      graph.inputs.push_back(value_of(input));
      return;
    }
    const ValueId real = declared(own.name, own, DType::kFloat32);
    graph.inputs.push_back(real);
    const NetworkTensor floats{own.name, own.shape, DType::kFloat32};
    const NetworkTensor* const from = &floats;
    append({Code::kQuantize}, {real}, {&from, 1}, value_of(input), own, true);
  }

  void add_operator(const Operator& op) {
    std::vector<ValueId> inputs;
    std::vector<const NetworkTensor*> tensors;
    for (const int32_t input : op.inputs) {
      inputs.push_back(input < 0 || at(input).is_variable ? ValueId{} : value_of(input));
      tensors.push_back(input < 0 ? nullptr : &at(input));
    }
    const NetworkTensor& made = at(op.outputs[0]);
    Node node = node_of(op, tensors, made);
    node.name = made.name;
    node.inputs = std::move(inputs);
    for (const int32_t output : op.outputs) node.outputs.push_back(output < 0 ? ValueId{} : value_of(output));
    model_.graph.append(std::move(node));
  }

  void add_output(int32_t output) {
    Graph& graph = model_.graph;
    const NetworkTensor& own = at(output);
    const ValueId value = value_of(output);
    if (holds_codes(own)) {
      NetworkTensor floats{own.name, own.shape, DType::kFloat32};
      floats.order = own.order;
      const NetworkTensor* const from = &own;
      graph.outputs.push_back(declared(own.name, own, DType::kFloat32));
      append({Code::kDequantize}, {value}, {&from, 1}, graph.outputs.back(), floats, true);
      return;
    }
    const auto is_listed = [&](const std::vector<ValueId>& ends) {
      return std::find(ends.begin(), ends.end(), value) != ends.end();
    };
    if (graph.initializer(value) == nullptr && !is_listed(graph.inputs) && !is_listed(graph.outputs)) {
      graph.outputs.push_back(value);
      return;
    }
    Node identity;
    identity.op_type = "Identity";
    identity.inputs = {value};
    identity.outputs = {declared(own.name, own, own.dtype)};
    graph.outputs.push_back(identity.outputs[0]);
    graph.append(std::move(identity));
  }

  const Network& network_;
  Model model_;
  std::vector<ValueId> values_;
};

}  // namespace

Model integer_model(const Network& network) {
  return Maker(network).model();
}

Model lowered_model(const Model& quantized) {
  Model made = as_made_from(integer_model(lower(quantized)), quantized);
  made.metadata = quantized.metadata;
  return made;
}

bool runs_here(const Network& network) {
  for (const Operator& op : network.operators) try {
      check_runs(op.code, network.tensors[static_cast<size_t>(op.inputs[0])].dtype);
    } catch (const Error&) {
      return false;
    }
  return true;
}

}  // namespace tersor::tflite
