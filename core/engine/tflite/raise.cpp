// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/raise.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/tensor/float16.h"
#include "core/tflite/raising.h"

namespace tersor::tflite {

namespace {

const AxisOrder kToFirst{0, 3, 1, 2}, kToLast{0, 2, 3, 1};

std::vector<int64_t> as_list(const AxisOrder& order) {
  return {order.begin(), order.end()};
}

std::vector<Dim> dims_of(const NetworkTensor& tensor) {
  std::vector<Dim> dims;
  for (const int32_t dim : tensor.shape) dims.push_back({dim, ""});
  return dims;
}

}  // namespace

Raising::Raising(const Network& network) : network_(network), values_(network.tensors.size()) {
  model_.ir_version = 8;
  model_.opset_imports = {{"", 13}};
  model_.producer_name = "TensorFlow Lite";
  model_.doc = network.description;
  model_.graph.name = network.name.empty() ? "main" : network.name;
  for (const NetworkTensor& tensor : network.tensors)
    constants_.push_back(tensor.data && tensor.dtype == DType::kFloat16 ? widened(*tensor.data) : tensor.data);
}

Model Raising::model() {
  Graph& graph = model_.graph;
  for (const int32_t input : network_.inputs) {
    const NetworkTensor& tensor = at(input);
    if (!tensor.quantization.scale.empty() && is_integer(tensor.dtype)) refuse_quantized(tensor);
    const ValueId value = graph.add_unique_value(tensor.name.empty() ? "input" : tensor.name, tensor.dtype);
    graph.value(value).shape = dims_of(tensor);
    graph.inputs.push_back(value);
    values_[static_cast<size_t>(input)].plain = value;
  }
  for (size_t k = 0; k < network_.operators.size(); ++k) {
    op_ = &network_.operators[k];
    const std::string place = "graph.operator[" + std::to_string(k) + "] (" + name_of_operator(*op_) + ")";
    for (const int32_t input : op_->inputs)
      if (op_->code != Code::kDequantize && input >= 0 && !at(input).quantization.scale.empty() &&
          bits_of(at(input).dtype) <= 16 && is_integer(at(input).dtype))
        refuse_quantized(at(input));
    try {
      raise_operator(*this);
    } catch (const Error& error) {
      throw error.place.empty() ? Error(error.code, error.message, place, error.hint) : error;
    }
  }
  for (size_t k = 0; k < network_.outputs.size(); ++k) {
    const int32_t output = network_.outputs[k];
    const ValueId made = plain(output);
    const bool is_own = graph.initializer(made) == nullptr &&
                        std::find(graph.inputs.begin(), graph.inputs.end(), made) == graph.inputs.end() &&
                        std::find(graph.outputs.begin(), graph.outputs.end(), made) == graph.outputs.end();
    graph.outputs.push_back(is_own ? made : node("Identity", {made}));
    Value& value = graph.value(graph.outputs.back());
    value.dtype = at(output).dtype;
    value.shape = dims_of(at(output));
  }
  return std::move(model_);
}

void Raising::refuse_quantized(const NetworkTensor& tensor) const {
  throw Error(ErrorCode::kUnsupportedModel,
              "The .tflite file is quantized already: \"" + tensor.name + "\" is " +
                  std::string(tersor::name_of(tensor.dtype)) + " with a scale.",
              {}, "Give the float model that it was made of; `tersor run` computes an int8 file as it is.");
}

std::string Raising::name_of_operator(const Operator& op) {
  return op.code == Code::kCustom ? op.custom : std::string(kind_of(op.code).name);
}

const Tensor* Raising::constant(int32_t tensor) const {
  const auto& data = constants_[static_cast<size_t>(tensor)];
  return data ? &*data : nullptr;
}

Tensor Raising::floats(size_t input, const char* what) const {
  const Tensor* found = has(input) ? constant(in(input)) : nullptr;
  if (found == nullptr)
    throw Error(ErrorCode::kUnsupportedModel, std::string(what) + " is no constant; here it has to be one.");
  return *found;
}

std::vector<int64_t> Raising::numbers(size_t input, const char* what) const {
  const Tensor* found = has(input) ? constant(in(input)) : nullptr;
  if (found == nullptr || !is_integer(found->dtype()))
    throw Error(ErrorCode::kUnsupportedModel,
                std::string(what) + " is no constant of whole numbers; here it has to be one.");
  return found->to_int64s();
}

int64_t Raising::axis(size_t input) const {
  const std::vector<int64_t> named = numbers(input, "Its axis");
  if (named.empty()) throw Error(ErrorCode::kInvalidModel, "Its axis holds no number.");
  return named[0];
}

bool Raising::is_first(int32_t tensor) const {
  return rank(tensor) == 4 && constant(tensor) == nullptr && values_[static_cast<size_t>(tensor)].first.valid();
}

ValueId Raising::plain(int32_t tensor) {
  Forms& forms = values_[static_cast<size_t>(tensor)];
  if (forms.plain.valid()) return forms.plain;
  if (const Tensor* data = constant(tensor)) return forms.plain = initializer(at(tensor).name, *data);
  TERSOR_CHECK(forms.first.valid());
  return forms.plain = named(node("Transpose", {forms.first}, {{"perm", as_list(kToLast)}}), at(tensor).name);
}

ValueId Raising::first(int32_t tensor) {
  Forms& forms = values_[static_cast<size_t>(tensor)];
  if (forms.first.valid()) return forms.first;
  if (const Tensor* data = constant(tensor))
    return forms.first = initializer(at(tensor).name + "_first", rearranged(*data, kToFirst));
  return forms.first = node("Transpose", {plain(tensor)}, {{"perm", as_list(kToFirst)}});
}

ValueId Raising::initializer(const std::string& name, Tensor tensor) {
  return model_.graph.add_initializer(name.empty() ? "constant" : name, std::move(tensor));
}

ValueId Raising::list(const std::vector<int64_t>& numbers) {
  return initializer(
      "numbers", Tensor::of<int64_t>(Shape{static_cast<int64_t>(numbers.size())}, std::span<const int64_t>(numbers)));
}

ValueId Raising::number(float value) {
  return initializer("number", Tensor::scalar(value));
}

ValueId Raising::node(const std::string& type, const std::vector<ValueId>& inputs, NodeAttributes attributes) {
  const std::string stem = at(op_ != nullptr ? op_->outputs[0] : 0).name;
  return nodes(type, inputs, 1, std::move(attributes), stem)[0];
}

std::vector<ValueId> Raising::nodes(const std::string& type, const std::vector<ValueId>& inputs, size_t outputs,
                                    NodeAttributes attributes, const std::string& stem) {
  Graph& graph = model_.graph;
  Node made;
  made.op_type = type;
  made.inputs = inputs;
  for (size_t k = 0; k < outputs; ++k) made.outputs.push_back(graph.add_unique_value(stem + "_" + type));
  made.name = graph.name_of(made.outputs[0]);
  for (auto& [key, value] : attributes) made.attributes[key] = std::move(value);
  std::vector<ValueId> result = made.outputs;
  graph.append(std::move(made));
  return result;
}

ValueId Raising::named(ValueId value, const std::string& name) {
  if (!name.empty() && !model_.graph.find(name)) model_.graph.rename(value, name);
  return value;
}

void Raising::give(size_t output, ValueId value, bool in_first) {
  const int32_t tensor = op_->outputs[output];
  Forms& forms = values_[static_cast<size_t>(tensor)];
  if (in_first)
    forms.first = value;
  else
    forms.plain = named(value, at(tensor).name);
}

void Raising::give_activated(ValueId value, bool in_first) {
  switch (op_->options.activation) {
    case kNoActivation:
      break;
    case kReluActivation:
      value = node("Relu", {value});
      break;
    case kReluN1To1Activation:
      value = node("Clip", {value, number(-1), number(1)});
      break;
    case kRelu6Activation:
      value = node("Clip", {value, number(0), number(6)});
      break;
    case kTanhActivation:
      value = node("Tanh", {value});
      break;
    default:
      throw Error(ErrorCode::kUnsupportedModel, "Its fused activation has the number " +
                                                    std::to_string(op_->options.activation) +
                                                    ", which is not known here.");
  }
  give(0, value, in_first);
}

void Raising::take_constant(size_t output, Tensor tensor) {
  constants_[static_cast<size_t>(op_->outputs[output])] = std::move(tensor);
}

Model raise(const Network& network) {
  return Raising(network).model();
}

}  // namespace tersor::tflite
