// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/encode.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/format.h"

namespace tersor::onnx {

namespace {

Message entry(std::string_view key, std::string_view value) {
  Message message;
  message.text(entry_field::kKey, key);
  message.text(entry_field::kValue, value);
  return message;
}

Message encode_shape(const std::vector<Dim>& dims) {
  Message shape;
  for (const Dim& dim : dims) {
    Message message;
    if (dim.fixed())
      message.integer(dim_field::kValue, dim.value);
    else
      message.text_unless_empty(dim_field::kSymbol, dim.symbol);
    message.text_unless_empty(dim_field::kDenotation, dim.denotation);
    shape.message(shape_field::kDim, std::move(message));
  }
  return shape;
}

Message encode_type(const Value& value) {
  Message type;
  if (!value.type_bytes.empty()) {
    type.encoded(value.type_bytes);
    return type;
  }
  if (value.dtype != DType::kUndefined || value.shape) {
    Message tensor;
    tensor.integer(tensor_type_field::kElementType, static_cast<int64_t>(value.dtype));
    if (value.shape) tensor.message(tensor_type_field::kShape, encode_shape(*value.shape));
    type.message(type_field::kTensor, std::move(tensor));
  }
  type.text_unless_empty(type_field::kDenotation, value.denotation);
  return type;
}

bool is_described(const Value& value) {
  return value.dtype != DType::kUndefined || value.shape || !value.type_bytes.empty();
}

/// Adds the value fields of an AttributeProto and says its type.
struct AttributeEncoder {
  Message& message;

  AttributeType operator()(int64_t value) {
    message.integer(attribute_field::kInt, value);
    return AttributeType::kInt;
  }
  AttributeType operator()(float value) {
    message.number(attribute_field::kFloat, value);
    return AttributeType::kFloat;
  }
  AttributeType operator()(const std::string& value) {
    message.text(attribute_field::kString, value);
    return AttributeType::kString;
  }
  AttributeType operator()(const Tensor& value) {
    message.message(attribute_field::kTensor, encode_tensor(value, "", "", nullptr));
    return AttributeType::kTensor;
  }
  AttributeType operator()(const std::shared_ptr<const Graph>& value) {
    message.message(attribute_field::kGraph, encode_graph(*value, nullptr, false));
    return AttributeType::kGraph;
  }
  AttributeType operator()(const std::vector<float>& values) {
    for (const float value : values) message.number(attribute_field::kFloats, value);
    return AttributeType::kFloats;
  }
  AttributeType operator()(const std::vector<int64_t>& values) {
    for (const int64_t value : values) message.integer(attribute_field::kInts, value);
    return AttributeType::kInts;
  }
  AttributeType operator()(const std::vector<std::string>& values) {
    for (const std::string& value : values) message.text(attribute_field::kStrings, value);
    return AttributeType::kStrings;
  }
  AttributeType operator()(const std::vector<Tensor>& values) {
    for (const Tensor& value : values)
      message.message(attribute_field::kTensors, encode_tensor(value, "", "", nullptr));
    return AttributeType::kTensors;
  }
  AttributeType operator()(const std::vector<std::shared_ptr<const Graph>>& values) {
    for (const auto& value : values) message.message(attribute_field::kGraphs, encode_graph(*value, nullptr, false));
    return AttributeType::kGraphs;
  }
  AttributeType operator()(const OpaqueAttribute&) { return AttributeType::kUndefined; }
};

Message encode_node(const Graph& graph, const Node& node) {
  Message message;
  const auto name = [&](ValueId id) { return id.valid() ? std::string_view(graph.name_of(id)) : std::string_view(); };
  for (const ValueId id : node.inputs) message.text(node_field::kInput, name(id));
  for (const ValueId id : node.outputs) message.text(node_field::kOutput, name(id));
  message.text_unless_empty(node_field::kName, node.name);
  message.text(node_field::kOpType, node.op_type);
  for (const auto& [key, attribute] : node.attributes)
    message.message(node_field::kAttribute, encode_attribute(key, attribute));
  message.text_unless_empty(node_field::kDoc, node.doc);
  message.text_unless_empty(node_field::kDomain, node.domain);
  message.encoded(node.rest);
  return message;
}

}  // namespace

Message encode_tensor(const Tensor& tensor, std::string_view name, std::string_view doc, const ExternalStore* store) {
  Message message;
  for (const int64_t dim : tensor.shape()) message.integer(tensor_field::kDims, dim);
  message.integer(tensor_field::kDataType, static_cast<int64_t>(tensor.dtype()));
  const bool strings = tensor.dtype() == DType::kString;
  if (strings)
    for (const std::string& one : tensor.strings()) message.text(tensor_field::kStrings, one);
  message.text_unless_empty(tensor_field::kName, name);
  const bool external = !strings && store != nullptr && tensor.bytes().size() >= store->at_least_bytes;
  if (!strings && !external) message.reference(tensor_field::kRaw, tensor.bytes());
  message.text_unless_empty(tensor_field::kDoc, doc);
  if (external) {
    const uint64_t offset = store->store(tensor.bytes());
    message.message(tensor_field::kExternal, entry("location", store->location));
    message.message(tensor_field::kExternal, entry("offset", std::to_string(offset)));
    message.message(tensor_field::kExternal, entry("length", std::to_string(tensor.bytes().size())));
    message.integer(tensor_field::kLocation, 1);
  }
  return message;
}

Message encode_attribute(std::string_view key, const Attribute& attribute) {
  Message message;
  if (const auto* opaque = std::get_if<OpaqueAttribute>(&attribute)) {
    message.encoded(opaque->bytes);
    return message;
  }
  message.text(attribute_field::kName, key);
  const AttributeType type = std::visit(AttributeEncoder{message}, attribute);
  message.integer(attribute_field::kType, static_cast<int64_t>(type));
  return message;
}

Message encode_value(const Value& value) {
  Message message;
  message.text(value_field::kName, value.name);
  if (is_described(value) || !value.denotation.empty()) message.message(value_field::kType, encode_type(value));
  message.text_unless_empty(value_field::kDoc, value.doc);
  message.encoded(value.rest);
  return message;
}

Message encode_graph(const Graph& graph, const ExternalStore* store, bool initializers_as_inputs) {
  Message message;
  std::vector<bool> listed(graph.value_count(), true);  // not to be described once more as an inner value
  for (const Node& node : graph.nodes()) {
    message.message(graph_field::kNode, encode_node(graph, node));
    for (const ValueId id : node.outputs)
      if (id.valid()) listed[static_cast<size_t>(id.index)] = false;
  }
  message.text_unless_empty(graph_field::kName, graph.name);
  for (const auto& [id, tensor] : graph.initializers())
    message.message(graph_field::kInitializer, encode_tensor(tensor, graph.name_of(id), graph.value(id).doc, store));
  message.text_unless_empty(graph_field::kDoc, graph.doc);
  for (const ValueId id : graph.inputs) message.message(graph_field::kInput, encode_value(graph.value(id)));
  if (initializers_as_inputs)
    for (const auto& [id, tensor] : graph.initializers())
      message.message(graph_field::kInput, encode_value(graph.value(id)));
  for (const ValueId id : graph.outputs) {
    message.message(graph_field::kOutput, encode_value(graph.value(id)));
    listed[static_cast<size_t>(id.index)] = true;
  }
  for (size_t k = 0; k < listed.size(); ++k) {
    const Value& value = graph.value(ValueId{static_cast<int32_t>(k)});
    if (!listed[k] && is_described(value)) message.message(graph_field::kValueInfo, encode_value(value));
  }
  message.encoded(graph.rest);
  return message;
}

}  // namespace tersor::onnx
