// SPDX-License-Identifier: Apache-2.0
#include "core/graph/folded_values.h"

#include "tests/catch.h"

using namespace tersor;

TEST_CASE("what nodes make of constants alone is folded, but by no DequantizeLinear and nothing that reads an input") {
  Graph graph;
  const auto codes = graph.add_initializer("codes", Tensor::of<int8_t>(Shape{2}, std::vector<int8_t>{1, 2}));
  const auto scale = graph.add_initializer("scale", Tensor::of<float>(Shape{}, std::vector<float>{0.5f}));
  const auto x = graph.add_value("x", DType::kFloat32);
  graph.inputs = {x};
  const auto add = [&](const char* type, std::vector<ValueId> inputs, const char* name) {
    Node node;
    node.op_type = type;
    node.inputs = std::move(inputs);
    node.outputs = {graph.add_value(name, DType::kFloat32)};
    const ValueId made = node.outputs[0];
    graph.insert(graph.nodes().size(), std::move(node));
    return made;
  };
  const auto cast = add("Cast", {codes}, "cast"), weight = add("Mul", {cast, scale}, "weight");
  const auto kept = add("DequantizeLinear", {codes, scale}, "kept"), read = add("Relu", {kept}, "read");
  const auto sum = add("Add", {x, weight}, "sum");
  const std::vector<bool> folded = folded_values(graph);
  for (const ValueId id : {cast, weight}) REQUIRE(folded[static_cast<size_t>(id.index)]);
  for (const ValueId id : {codes, scale, x, kept, read, sum}) REQUIRE(!folded[static_cast<size_t>(id.index)]);
}
