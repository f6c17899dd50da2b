// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/graph/print.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "tests/catch.h"
#include "tests/onnx/encoded.h"
#include "tests/support/make_node.h"

namespace round_trip_test {
using namespace tersor;
using namespace tersor::test;

namespace {

std::shared_ptr<const Graph> small_subgraph() {
  auto inner = std::make_shared<Graph>();
  inner->name = "inner";
  const ValueId captured = inner->add_value("x"), result = inner->add_value("r");
  inner->append(make_node("Relu", {captured}, {result}));
  inner->outputs = {result};
  return inner;
}

/// One node with an attribute of every type, in a model with every field set.
Model full_model() {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{"", 13}, {"com.microsoft", 1}};
  model.producer_name = "maker";
  model.producer_version = "1.2";
  model.domain = "org.example";
  model.model_version = 7;
  model.doc = "a model";
  model.metadata = {{"b", "2"}, {"a", "1"}};
  Graph& graph = model.graph;
  graph.name = "main";
  graph.doc = "a graph";
  const ValueId x = graph.add_value("x", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {3, {}, "CHANNEL"}, {}});
  graph.value(x).doc = "the input";
  graph.value(x).denotation = "IMAGE";
  const ValueId y = graph.add_value("y", DType::kFloat32), z = graph.add_value("z", DType::kInt64, std::vector<Dim>{});
  graph.inputs = {x};
  graph.outputs = {z};
  const ValueId w = graph.add_initializer("w", Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  const ValueId s = graph.add_initializer("s", Tensor::of_strings({2}, {"one", "two"}));
  Node node = make_node("Fancy", {x, ValueId{}, w, s}, {y});
  node.domain = "com.microsoft";
  node.name = "fancy";
  node.doc = "a node";
  node.attributes["strings"] = std::vector<std::string>{"a", ""};
  node.attributes["int"] = int64_t{-3};
  node.attributes["float"] = 0.1f;
  node.attributes["string"] = std::string("text");
  node.attributes["tensor"] = Tensor::of<int64_t>({3}, {-1, 0, 1});
  node.attributes["graph"] = small_subgraph();
  node.attributes["ints"] = std::vector<int64_t>{1, -2};
  node.attributes["floats"] = std::vector<float>{0.5f, -0.0f};
  node.attributes["no_ints"] = std::vector<int64_t>{};
  node.attributes["tensors"] = std::vector<Tensor>{Tensor::scalar(1.5f), Tensor::scalar<uint8_t>(9)};
  node.attributes["graphs"] = std::vector<std::shared_ptr<const Graph>>{small_subgraph(), small_subgraph()};
  graph.append(node);
  graph.append(make_node("Size", {y}, {z}));
  return model;
}

Model again(const Model& model) {
  return onnx::read(onnx::Source::of(onnx::write(model)));
}

}  // namespace

TEST_CASE("a model comes back as it was written") {
  const Model model = full_model();
  const Model back = again(model);
  REQUIRE(to_text(back.graph) == to_text(model.graph));
  REQUIRE(back.producer_name == "maker");
  REQUIRE(back.producer_version == "1.2");
  REQUIRE(back.domain == "org.example");
  REQUIRE(back.model_version == 7);
  REQUIRE(back.doc == "a model");
  REQUIRE(back.metadata == model.metadata);
  REQUIRE(back.opset("com.microsoft") == 1);
  const Value& x = back.graph.value(*back.graph.find("x"));
  REQUIRE(x.shape == model.graph.value(*model.graph.find("x")).shape);
  REQUIRE(x.doc == "the input");
  REQUIRE(x.denotation == "IMAGE");
  REQUIRE(back.graph.doc == "a graph");
  const Value& z = back.graph.value(*back.graph.find("z"));
  REQUIRE((z.shape && z.shape->empty()));
  REQUIRE(back.graph.value(*back.graph.find("y")).dtype == DType::kFloat32);
}

TEST_CASE("every type of attribute comes back exactly") {
  const Model model = full_model(), back = again(model);
  const Attributes &wanted = model.graph.nodes()[0].attributes, &got = back.graph.nodes()[0].attributes;
  REQUIRE(got.size() == wanted.size());
  for (const auto& [key, value] : wanted) {
    INFO(key);
    REQUIRE(got.at(key).index() == value.index());
    if (key != "graph" && key != "graphs") REQUIRE(got.at(key) == value);
  }
  REQUIRE(std::signbit(std::get<std::vector<float>>(got.at("floats"))[1]));
}

TEST_CASE("equal models give equal bytes, and reading changes nothing") {
  const std::vector<std::byte> file = onnx::write(full_model());
  REQUIRE(onnx::write(full_model()) == file);
  REQUIRE(onnx::write(onnx::read(onnx::Source::of(file))) == file);
}

TEST_CASE("weights alias the file") {
  const onnx::Source source = onnx::Source::of(onnx::write(full_model()));
  const Model model = onnx::read(source);
  const auto bytes = model.graph.initializer(*model.graph.find("w"))->bytes();
  REQUIRE(bytes.data() > source.bytes.data());
  REQUIRE(bytes.data() + bytes.size() <= source.bytes.data() + source.bytes.size());
}

TEST_CASE("files before IR version 4 list their initializers as inputs") {
  Model model = full_model();
  model.ir_version = 3;
  const std::vector<std::byte> file = onnx::write(model);
  const Model back = onnx::read(onnx::Source::of(file));
  REQUIRE(back.graph.inputs.size() == 1);
  REQUIRE(back.graph.initializers().size() == 2);
  REQUIRE(back.warnings.size() == 1);
  REQUIRE(back.warnings[0].code == "initializers_as_inputs");
  REQUIRE(onnx::write(back) == file);
}

TEST_CASE("a node of an unknown operator is written byte for byte as it was read") {
  using namespace tersor::onnx;
  // Not how our writer puts them: a doc string, packed numbers, a tensor with a name and typed data, an unknown type.
  Message odd, packed, tensor, type, plain;
  odd.text(attribute_field::kName, "odd");
  odd.integer(attribute_field::kInt, 5);
  odd.text(attribute_field::kDoc, "why");
  odd.integer(attribute_field::kType, 2);
  packed.text(attribute_field::kName, "packed");
  packed.text(attribute_field::kInts, std::string("\x01\x02\x03"));
  packed.integer(attribute_field::kType, 7);
  Message value;
  value.integer(tensor_field::kDims, 1);
  value.integer(tensor_field::kDataType, 1);
  value.number(tensor_field::kFloats, 2.5f);
  value.text(tensor_field::kName, "named");
  tensor.text(attribute_field::kName, "tensor");
  tensor.message(attribute_field::kTensor, std::move(value));
  tensor.integer(attribute_field::kType, 4);
  type.text(attribute_field::kName, "type");
  type.text(14, "\x0a\x02\x08\x01");
  type.integer(attribute_field::kType, 13);
  plain.text(attribute_field::kName, "alpha");
  plain.number(attribute_field::kFloat, 0.25f);
  plain.integer(attribute_field::kType, 1);
  Message node;
  node.text(node_field::kInput, "x");
  node.text(node_field::kOutput, "y");
  node.text(node_field::kOpType, "Twist");
  for (Message* one : {&odd, &packed, &tensor, &type, &plain}) node.message(node_field::kAttribute, *one);
  node.text(node_field::kDomain, "com.example");
  node.text(9, "\x0a\x01k\x12\x01v");  // metadata_props

  Message graph;
  graph.message(graph_field::kNode, std::move(node));
  graph.text(graph_field::kName, "g");
  graph.message(graph_field::kInput, tensor_value("x", 1, {2}));
  graph.message(graph_field::kOutput, tensor_value("y", 1, {2}));
  const std::vector<std::byte> file = model_file(std::move(graph), "com.example");
  const Model model = read(Source::of(file));
  REQUIRE(model.warnings.size() == 1);
  REQUIRE(model.warnings[0].code == "unknown_operators");
  REQUIRE(model.warnings[0].message.find("com.example::Twist") != std::string::npos);
  REQUIRE(model.graph.nodes()[0].float_or("alpha", 0) == 0.25f);  // typed where that loses nothing
  REQUIRE(onnx::write(model) == file);
}

TEST_CASE("fields that this code does not know stay") {
  using namespace tersor::onnx;
  Message graph;
  graph.message(graph_field::kNode, plain_node("Relu", {"x"}, {"y"}));
  graph.text(graph_field::kName, "g");
  Message input = tensor_value("x", 1, {2});
  input.text(4, "\x0a\x01k\x12\x01v");  // metadata_props
  graph.message(graph_field::kInput, std::move(input));
  graph.message(graph_field::kOutput, tensor_value("y", 1, {2}));
  graph.text(14, "\x0a\x01x");  // quantization_annotation
  graph.text(99, "something");
  Message model, opset;
  model.integer(model_field::kIrVersion, 8);
  model.message(model_field::kGraph, std::move(graph));
  opset.text(opset_field::kDomain, "");
  opset.integer(opset_field::kVersion, 13);
  model.message(model_field::kOpsetImport, std::move(opset));
  model.text(model_field::kFunctions,
             "\x0a\x01"
             "F");
  const std::vector<std::byte> file = model.bytes();
  REQUIRE(onnx::write(read(Source::of(file))) == file);
}

TEST_CASE("a value that is no tensor keeps its type") {
  using namespace tersor::onnx;
  Message value, graph;
  value.text(value_field::kName, "x");
  value.text(value_field::kType, "\x22\x06\x0a\x04\x0a\x02\x08\x01");  // sequence of float tensors
  graph.message(graph_field::kNode, plain_node("SequenceAt", {"x", "i"}, {"y"}));
  graph.text(graph_field::kName, "g");
  graph.message(graph_field::kInput, std::move(value));
  graph.message(graph_field::kInput, tensor_value("i", 7, {}));
  graph.message(graph_field::kOutput, tensor_value("y", 1, {2}));
  const std::vector<std::byte> file = model_file(std::move(graph));
  const Model model = read(Source::of(file));
  REQUIRE(model.graph.value(model.graph.inputs[0]).dtype == DType::kUndefined);
  REQUIRE(onnx::write(model) == file);
}

TEST_CASE("nodes that are out of order are sorted with a warning") {
  using namespace tersor::onnx;
  Message graph;
  graph.message(graph_field::kNode, plain_node("Relu", {"m"}, {"y"}));
  graph.message(graph_field::kNode, plain_node("Abs", {"x"}, {"m"}));
  graph.message(graph_field::kInput, tensor_value("x", 1, {2}));
  graph.message(graph_field::kOutput, tensor_value("y", 1, {2}));
  const Model model = read(Source::of(model_file(std::move(graph))));
  REQUIRE(model.graph.nodes()[0].op_type == "Abs");
  REQUIRE(model.warnings.size() == 1);
  REQUIRE(model.warnings[0].code == "nodes_out_of_order");
}

}  // namespace round_trip_test
