// SPDX-License-Identifier: Apache-2.0
// Small ONNX files made field by field, for what the writer never writes.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/format.h"
#include "core/onnx/read.h"
#include "tests/catch.h"

namespace tersor::test {

inline onnx::Message tensor_value(const std::string& name, int64_t element_type, const std::vector<int64_t>& dims) {
  onnx::Message shape, tensor, type, value;
  for (const int64_t size : dims) {
    onnx::Message dim;
    dim.integer(onnx::dim_field::kValue, size);
    shape.message(onnx::shape_field::kDim, std::move(dim));
  }
  tensor.integer(onnx::tensor_type_field::kElementType, element_type);
  tensor.message(onnx::tensor_type_field::kShape, std::move(shape));
  type.message(onnx::type_field::kTensor, std::move(tensor));
  value.text(onnx::value_field::kName, name);
  value.message(onnx::value_field::kType, std::move(type));
  return value;
}

inline onnx::Message plain_node(const std::string& op, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs, const std::string& domain = "") {
  onnx::Message node;
  for (const std::string& name : inputs) node.text(onnx::node_field::kInput, name);
  for (const std::string& name : outputs) node.text(onnx::node_field::kOutput, name);
  node.text(onnx::node_field::kOpType, op);
  node.text_unless_empty(onnx::node_field::kDomain, domain);
  return node;
}

/// Around a graph: IR version 8, opset 13 and, where given, another domain's version 1.
inline std::vector<std::byte> model_file(onnx::Message graph, const std::string& other_domain = "") {
  onnx::Message model, opset;
  model.integer(onnx::model_field::kIrVersion, 8);
  model.message(onnx::model_field::kGraph, std::move(graph));
  opset.text(onnx::opset_field::kDomain, "");
  opset.integer(onnx::opset_field::kVersion, 13);
  model.message(onnx::model_field::kOpsetImport, std::move(opset));
  if (!other_domain.empty()) {
    onnx::Message other;
    other.text(onnx::opset_field::kDomain, other_domain);
    other.integer(onnx::opset_field::kVersion, 1);
    model.message(onnx::model_field::kOpsetImport, std::move(other));
  }
  return model.bytes();
}

/// A graph x -> Relu -> y beside one initializer, an encoded TensorProto.
inline std::vector<std::byte> model_with_initializer(onnx::Message tensor) {
  onnx::Message graph;
  graph.message(onnx::graph_field::kNode, plain_node("Relu", {"x"}, {"y"}));
  graph.text(onnx::graph_field::kName, "g");
  graph.message(onnx::graph_field::kInitializer, std::move(tensor));
  graph.message(onnx::graph_field::kInput, tensor_value("x", 1, {2}));
  graph.message(onnx::graph_field::kOutput, tensor_value("y", 1, {2}));
  return model_file(std::move(graph));
}

/// The Error that reading gives; fails the test when there is none.
inline Error read_error(std::vector<std::byte> file, const onnx::ExternalData& external = {}) {
  try {
    onnx::read(onnx::Source::of(std::move(file)), external);
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error(ErrorCode::kInternal, "");
}

/// A graph of the given nodes from x to y.
inline onnx::Message graph_of(const std::vector<onnx::Message>& nodes) {
  onnx::Message graph;
  for (const onnx::Message& node : nodes) graph.message(onnx::graph_field::kNode, node);
  graph.text(onnx::graph_field::kName, "g");
  graph.message(onnx::graph_field::kInput, tensor_value("x", 1, {2}));
  graph.message(onnx::graph_field::kOutput, tensor_value("y", 1, {2}));
  return graph;
}

}  // namespace tersor::test
