// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/integer_edges.h"

#include "core/onnx/rewrite_forms.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

namespace integer_edges_test {
using namespace tersor;
using test::ModelBuilder;

namespace {

template <class T>
Tensor scalar(int value) {
  return Tensor::scalar(static_cast<T>(value));
}

/// x, quantized and restored; Neg of it; quantized and restored as y. `float_reader`: of x.
template <class T>
Model edges(int zero_point, bool float_reader = false) {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {2, 3});
  const ValueId scale = builder.weight(Tensor::of<float>(Shape{}, {0.5f})),
                zero = builder.weight(scalar<T>(zero_point));
  const auto pair = [&](ValueId value) {
    const ValueId codes = builder.node("QuantizeLinear", {value, scale, zero});
    builder.model.graph.value(codes).dtype = std::is_same_v<T, uint8_t> ? DType::kUint8 : DType::kInt8;
    return builder.node("DequantizeLinear", {codes, scale, zero});
  };
  const ValueId middle = builder.node("Neg", {pair(x)});
  const ValueId y = pair(float_reader ? builder.node("Add", {middle, x}) : middle);
  builder.model.graph.rename(y, "y");
  builder.output(y);
  return builder.model;
}

std::string types_of(const Model& model) {
  std::string types;
  for (const Node& node : model.graph.nodes()) types += node.op_type + " ";
  return types;
}

}  // namespace

TEST_CASE("integers of the quantizers' own type take the place of the first and the last quantizer") {
  Model model = edges<uint8_t>(7);
  model.narrow = {{"x", DType::kUint8}, {"y", DType::kUint8}};
  const Model file = onnx::restore_edges(model);
  REQUIRE(types_of(file) == "DequantizeLinear Neg QuantizeLinear ");
  const Graph& graph = file.graph;
  REQUIRE(graph.name_of(graph.inputs[0]) == "x");
  REQUIRE(graph.value(graph.inputs[0]).dtype == DType::kUint8);
  REQUIRE(graph.name_of(graph.outputs[0]) == "y");
  REQUIRE(graph.value(graph.outputs[0]).dtype == DType::kUint8);
  REQUIRE(file.metadata.back().first == onnx::kIoTypes);
  REQUIRE(file.metadata.back().second ==
          R"({"x":{"type":"uint8","scale":0.5,"zero_point":7},"y":{"type":"uint8","scale":0.5,"zero_point":7}})");
}

TEST_CASE("integers of another type are restored before the first quantizer, with a zero point of theirs") {
  Model model = edges<int8_t>(-3);
  model.narrow = {{"x", DType::kUint8}};
  const Model file = onnx::restore_edges(model);
  REQUIRE(types_of(file) == "DequantizeLinear QuantizeLinear DequantizeLinear Neg QuantizeLinear DequantizeLinear ");
  const Tensor* zero = file.graph.initializer(file.graph.nodes()[0].inputs[2]);
  REQUIRE(zero->dtype() == DType::kUint8);
  REQUIRE(zero->to_int64s() == std::vector<int64_t>{125});
}

TEST_CASE("who reads the floats of an input reads those of its integers") {
  Model model = edges<uint8_t>(7, true);
  model.narrow = {{"x", DType::kUint8}};
  REQUIRE(types_of(onnx::restore_edges(model)) ==
          "DequantizeLinear DequantizeLinear Neg Add QuantizeLinear DequantizeLinear ");
}

TEST_CASE("a file with integer edges is opened with floats at them, and written as it was") {
  Model model = edges<uint8_t>(7);
  model.narrow = {{"x", DType::kUint8}, {"y", DType::kInt8}};
  const Model file = onnx::restore_edges(model);
  Model opened = file;
  onnx::rewrite_forms(opened);
  const Graph& graph = opened.graph;
  REQUIRE(graph.value(graph.inputs[0]).dtype == DType::kFloat32);
  REQUIRE(graph.value(graph.outputs[0]).dtype == DType::kFloat32);
  REQUIRE(opened.narrow == model.narrow);
  REQUIRE(types_of(opened) ==
          "QuantizeLinear DequantizeLinear Neg QuantizeLinear DequantizeLinear QuantizeLinear DequantizeLinear ");
  const Model again = onnx::restore_edges(opened);
  REQUIRE(again.metadata == file.metadata);
  REQUIRE(again.graph.value(again.graph.outputs[0]).dtype == DType::kInt8);
}

TEST_CASE("an edge without a quantizer has no integers") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {2, 3});
  builder.output(builder.node("Neg", {x}));
  const Uses uses(builder.model.graph);
  REQUIRE(!onnx::has_integer_form(builder.model.graph, uses, x));
  REQUIRE(!onnx::has_integer_form(builder.model.graph, uses, builder.model.graph.outputs[0]));
}

}  // namespace integer_edges_test
