// SPDX-License-Identifier: Apache-2.0
#include "core/half/half_floats.h"

#include <cmath>

#include "core/onnx/read.h"
#include "core/onnx/rewrite_forms.h"
#include "core/onnx/write.h"
#include "core/ops/registry.h"
#include "core/run/program.h"
#include "core/tensor/float16.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

namespace half_floats_test {
using namespace tersor;
using test::NamedModel;

namespace {

Model chain(const char* type, Tensor constant) {
  NamedModel model;
  model.input("x", {1, 8}).weight("w", {8, 4}).constant("c", std::move(constant));
  model.node("MatMul", {"x", "w"}, {"a"}).node(type, {"a", "c"}, {"b"}).node("Relu", {"b"}, {"y"}).output("y");
  return model.build();
}

std::vector<std::string> kept(const Model& model, half::SeenValues seen) {
  std::vector<std::string> names;
  for (const half::FloatNode& one : half::nodes_in_float32(model, seen))
    names.push_back(model.graph.name_of(model.graph.find(one.node)->outputs[0]));
  return names;
}

half::SeenValues seen_with(const Model& model, std::map<std::string, float> largest) {
  half::SeenValues seen = half::seen_values(model);
  seen.largest = std::move(largest);
  return seen;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("all but the edges of a network becomes float16", "[half]") {
  const Model model = chain("Add", Tensor::scalar(0.5f));
  const half::SeenValues seen = half::seen_values(model);
  const Model file = half::with_half_floats(model, seen, half::nodes_in_float32(model, seen));
  CHECK(test::types_of(file) == "Cast MatMul Add Relu Cast");
  CHECK(file.graph.initializer(*file.graph.find("w"))->dtype() == DType::kFloat16);
  CHECK(file.graph.value(*file.graph.find("a")).dtype == DType::kFloat16);
  CHECK(file.graph.name_of(file.graph.outputs[0]) == "y");
  // written and read again it is a model of the same inputs, whose weights are rounded
  const std::vector<std::byte> bytes = onnx::write(file);
  Model again = onnx::read(onnx::Source::of(bytes));
  onnx::rewrite_forms(again);
  const double difference = test::relative_difference(model, again, test::random_inputs(model));
  CHECK(difference > 0);
  CHECK(difference < 2e-3);
}

TEST_CASE("the preview rounds every tensor to float16, once", "[half]") {
  const Model model = chain("Add", Tensor::scalar(0.5f));
  const half::SeenValues seen = half::seen_values(model);
  const Model preview = half::rounded_to_half(model, seen, {});
  const std::vector<Tensor> inputs = test::random_inputs(model);
  const Tensor y = run::Runner(run::Program::compile(preview, ops::standard())).run(inputs)[0];
  for (const float value : y.data<float>()) CHECK(value == float_from_half(half_from_float(value)));
  CHECK(test::relative_difference(model, preview, inputs) > 0);
}

TEST_CASE("what float16 cannot hold keeps float32", "[half]") {
  const Model model = chain("Mul", Tensor::scalar(2.0f));
  CHECK(kept(model, seen_with(model, {{"x", 1}, {"a", 100}, {"b", 200}, {"y", 200}})) == Names{});
  // a quarter of 65504 is room for other samples; a node is kept with what it reads and makes
  CHECK(kept(model, seen_with(model, {{"a", 100}, {"b", 2e4f}, {"y", 100}})) == Names{"b", "y"});
  CHECK(kept(model, seen_with(model, {{"a", HUGE_VALF}})) == Names{"a", "b"});
  CHECK(kept(model, seen_with(model, {{"a", 1e-6f}, {"b", 1}})) == Names{"a", "b"});
  const Model file = half::with_half_floats(model, half::seen_values(model), {{model.graph.nodes()[1].id, ""}});
  CHECK(test::types_of(file) == "Cast MatMul Cast Mul Cast Relu Cast");
}

TEST_CASE("an epsilon below float16 keeps its sum and what divides by it", "[half]") {
  NamedModel builder;
  builder.input("x", {1, 8}).constant("epsilon", Tensor::scalar(1e-6f));
  builder.node("Mul", {"x", "x"}, {"squares"}).node("Add", {"squares", "epsilon"}, {"sum"});
  builder.node("Sqrt", {"sum"}, {"root"}).node("Relu", {"root"}, {"y"}).output("y");
  const Model model = builder.build();
  CHECK(kept(model, half::seen_values(model)) == Names{"sum", "root"});
}

TEST_CASE("squares inside an operator count", "[half]") {
  NamedModel builder;
  builder.input("x", {1, 8}).weight("scale", {8});
  builder.node("LayerNormalization", {"x", "scale"}, {"y"}).output("y");
  Model model = builder.build();
  model.opset_imports[0].version = 17;
  CHECK(kept(model, seen_with(model, {{"x", 100}, {"y", 2}})) == Names{});
  CHECK(kept(model, seen_with(model, {{"x", 300}, {"y", 2}})) == Names{"y"});
}

TEST_CASE("a mask's constant beyond float16 becomes one within, a weight's does not", "[half]") {
  const Model mask = chain("Add", Tensor::scalar(-3.4e38f));
  CHECK(kept(mask, half::seen_values(mask)) == Names{});
  const Model file = half::with_half_floats(mask, half::seen_values(mask), {});
  const Tensor bound = widened(*file.graph.initializer(*file.graph.find("c")));
  CHECK(bound.data<float>()[0] == -32768);
  NamedModel builder;
  builder.input("x", {1, 2}).constant("w", Tensor::of<float>({2, 2}, {1e6f, 1, 1, 1}));
  builder.node("MatMul", {"x", "w"}, {"y"}).output("y");
  const Model weight = builder.build();
  CHECK(kept(weight, half::seen_values(weight)) == Names{"y"});
}

TEST_CASE("positions and angles keep float32 with what makes them", "[half]") {
  NamedModel builder;
  builder.input("x", {1, 8}).weight("w", {8, 8}).constant("rates", Tensor::scalar(100.0f));
  builder.node("MatMul", {"x", "w"}, {"a"}).node("Mul", {"a", "rates"}, {"angles"}).node("Sin", {"angles"}, {"s"});
  builder.node("Floor", {"angles"}, {"steps"}).node("Add", {"s", "steps"}, {"y"}).output("y");
  const Model model = builder.build();
  CHECK(kept(model, seen_with(model, {{"a", 1}, {"angles", 2}})) == Names{"angles", "steps"});
  CHECK(kept(model, seen_with(model, {{"a", 1}, {"angles", 80}})) == Names{"angles", "s", "steps"});
}

TEST_CASE("types follow from operators where shapes do not", "[half]") {
  NamedModel builder;
  builder.input("x", {4, 4}).weight("w", {8, 8}).constant("two", Tensor::of<int64_t>(Shape{1}, {2}));
  builder.node("Shape", {"x"}, {"shape"}).node("Concat", {"shape", "two"}, {"to"}, {{"axis", int64_t{0}}});
  builder.node("Reshape", {"x", "to"}, {"a"}).node("MatMul", {"a", "w"}, {"y"}).output("y");
  Model model = builder.build();
  model.graph.value(model.graph.inputs[0]).shape.reset();
  CHECK(kept(model, half::seen_values(model)) == Names{});
  CHECK(test::types_of(half::with_half_floats(model, half::seen_values(model), {})) ==
        "Cast Shape Concat Reshape MatMul Cast");
}

TEST_CASE("weights of an operator without float16 are stored in it, its small constants are not", "[half]") {
  NamedModel builder;
  builder.input("x", {3, 1, 16}).weight("w", {1, 64, 16}).weight("r", {1, 64, 16}).weight("bias", {1, 128});
  builder.node("LSTM", {"x", "w", "r", "bias"}, {"y"}, {{"hidden_size", int64_t{16}}}).output("y");
  const Model model = builder.build();
  const half::SeenValues seen = half::seen_values(model);
  const auto in_float32 = half::nodes_in_float32(model, seen);
  REQUIRE(in_float32.size() == 1);
  const Model file = half::with_half_floats(model, seen, in_float32);
  CHECK(test::types_of(file) == "Cast Cast LSTM");
  CHECK_FALSE(file.graph.initializer(*file.graph.find("w")));
  CHECK(file.graph.initializer(*file.graph.find("w_float16"))->dtype() == DType::kFloat16);
  CHECK(file.graph.initializer(*file.graph.find("bias"))->dtype() == DType::kFloat32);
  const Model computed = half::rounded_to_half(model, seen, in_float32);
  CHECK(test::relative_difference(computed, file, test::random_inputs(model)) == 0);
  CHECK(test::relative_difference(model, file, test::random_inputs(model)) > 0);
}

TEST_CASE("bodies read float32 by the names that they know", "[half]") {
  NamedModel body;
  body.node("Add", {"a", "a"}, {"inside"}).output("inside");
  const auto branch = std::make_shared<const Graph>(body.build().graph);
  NamedModel builder;
  builder.input("x", {1, 8}).input("condition", {}).weight("w", {8, 4}).node("MatMul", {"x", "w"}, {"a"});
  builder.node("If", {"condition"}, {"b"}, {{"then_branch", branch}, {"else_branch", branch}});
  builder.node("Relu", {"b"}, {"y"}).output("y");
  Model model = builder.build();
  model.graph.value(model.graph.inputs[1]).dtype = DType::kBool;
  half::SeenValues seen = half::seen_values(model);
  const auto in_float32 = half::nodes_in_float32(model, seen);
  CHECK(kept(model, seen) == Names{"b", "y"});  // of an unknown type each
  const Model file = half::with_half_floats(model, seen, in_float32);
  CHECK(file.graph.find("a_float16"));
  CHECK(file.graph.value(*file.graph.find("a")).dtype != DType::kFloat16);
}

}  // namespace half_floats_test
