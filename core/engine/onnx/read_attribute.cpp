// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/read_attribute.h"

#include "core/base/error.h"
#include "core/graph/operators.h"
#include "core/onnx/encode.h"
#include "core/onnx/format.h"
#include "core/onnx/place.h"
#include "core/onnx/read_tensor.h"

namespace tersor::onnx {

namespace {

/// An AttributeProto with all its fields read; the type says which of them counts.
struct EncodedAttribute {
  std::string name;
  AttributeType type = AttributeType::kUndefined;
  bool opaque = false;
  AttributeType seen = AttributeType::kUndefined;  // of the last value field, for files that give no type
  int64_t integer = 0;
  float number = 0;
  std::string text;
  std::string_view tensor, sparse_tensor, graph;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::vector<std::string_view> tensors, graphs;
};

void read_field(Fields& fields, EncodedAttribute& into) {
  switch (fields.tag()) {
    case attribute_field::kFloat:
      into.number = fields.number();
      into.seen = AttributeType::kFloat;
      break;
    case attribute_field::kInt:
      into.integer = fields.integer();
      into.seen = AttributeType::kInt;
      break;
    case attribute_field::kString:
      into.text = fields.text();
      into.seen = AttributeType::kString;
      break;
    case attribute_field::kTensor:
      into.tensor = fields.view();
      into.seen = AttributeType::kTensor;
      break;
    case attribute_field::kSparseTensor:
      into.sparse_tensor = fields.view();
      into.seen = AttributeType::kSparseTensor;
      break;
    case attribute_field::kGraph:
      into.graph = fields.view();
      into.seen = AttributeType::kGraph;
      break;
    case attribute_field::kFloats:
      fields.add_to(into.numbers);
      into.seen = AttributeType::kFloats;
      break;
    case attribute_field::kInts:
      fields.add_to(into.integers);
      into.seen = AttributeType::kInts;
      break;
    case attribute_field::kStrings:
      into.texts.push_back(fields.text());
      into.seen = AttributeType::kStrings;
      break;
    case attribute_field::kTensors:
      into.tensors.push_back(fields.view());
      into.seen = AttributeType::kTensors;
      break;
    case attribute_field::kGraphs:
      into.graphs.push_back(fields.view());
      into.seen = AttributeType::kGraphs;
      break;
    case attribute_field::kDoc:
      break;
    default:
      into.opaque = true;
      break;
  }
}

EncodedAttribute read_fields(std::string_view message) {
  EncodedAttribute encoded;
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == attribute_field::kName)
      encoded.name = fields.text();
    else if (fields.tag() == attribute_field::kType)
      encoded.type = static_cast<AttributeType>(fields.integer());
    else
      read_field(fields, encoded);
  }
  if (encoded.type == AttributeType::kUndefined) encoded.type = encoded.seen;
  return encoded;
}

std::shared_ptr<const Graph> subgraph(std::string_view message, const std::string& key,
                                      const AttributeContext& context) {
  const std::string place = context.node_place + "." + key;
  return std::make_shared<const Graph>(read_graph(message, context.graph, place, context.depth + 1));
}

Attribute typed(EncodedAttribute encoded, std::string_view message, const AttributeContext& context) {
  const std::string place = context.node_place + "." + encoded.name;
  const auto tensor = [&](std::string_view bytes) {
    return within(place, [&] { return read_tensor(bytes, context.graph.model, context.graph.external).tensor; });
  };
  if (encoded.opaque) return OpaqueAttribute{std::string(message)};
  switch (encoded.type) {
    case AttributeType::kFloat:
      return encoded.number;
    case AttributeType::kInt:
      return encoded.integer;
    case AttributeType::kString:
      return std::move(encoded.text);
    case AttributeType::kTensor:
      return tensor(encoded.tensor);
    case AttributeType::kGraph:
      return subgraph(encoded.graph, encoded.name, context);
    case AttributeType::kFloats:
      return std::move(encoded.numbers);
    case AttributeType::kInts:
      return std::move(encoded.integers);
    case AttributeType::kStrings:
      return std::move(encoded.texts);
    case AttributeType::kTensors: {
      std::vector<Tensor> tensors;
      for (const std::string_view one : encoded.tensors) tensors.push_back(tensor(one));
      return tensors;
    }
    case AttributeType::kGraphs: {
      std::vector<std::shared_ptr<const Graph>> graphs;
      for (size_t k = 0; k < encoded.graphs.size(); ++k)
        graphs.push_back(subgraph(encoded.graphs[k], encoded.name + "[" + std::to_string(k) + "]", context));
      return graphs;
    }
    default:
      return OpaqueAttribute{std::string(message)};
  }
}

Attribute dense(const EncodedAttribute& encoded, const AttributeContext& context) {
  return within(context.node_place + "." + encoded.name, [&] {
    return read_sparse_tensor(encoded.sparse_tensor, context.graph.model, context.graph.external).tensor;
  });
}

bool holds_graph(const Attribute& attribute) {
  return std::holds_alternative<std::shared_ptr<const Graph>>(attribute) ||
         std::holds_alternative<std::vector<std::shared_ptr<const Graph>>>(attribute);
}

}  // namespace

void add_attribute(std::string_view message, Node& node, const AttributeContext& context) {
  EncodedAttribute encoded = within(context.node_place, [&] { return read_fields(message); });
  const bool is_sparse = encoded.type == AttributeType::kSparseTensor;
  // A constant that is written sparse is the dense one, like a sparse initializer.
  const bool is_constant = is_sparse && node.is("Constant") && encoded.name == "sparse_value";
  const std::string key = is_constant ? "value" : encoded.name;
  if (key.empty()) throw Error(ErrorCode::kInvalidModel, "An attribute has no name.", context.node_place);
  if (node.attributes.contains(key))
    throw Error(ErrorCode::kInvalidModel, "The attribute \"" + key + "\" is given twice.", context.node_place);
  Attribute attribute = is_constant ? dense(encoded, context) : typed(std::move(encoded), message, context);
  const bool keep_bytes = !is_known_operator(node.domain, node.op_type) && !holds_graph(attribute);
  if (keep_bytes && encode_attribute(key, attribute).text() != message)
    attribute = OpaqueAttribute{std::string(message)};
  node.attributes.emplace(key, std::move(attribute));
}

}  // namespace tersor::onnx
