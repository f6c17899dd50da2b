// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/integer_model.h"

#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/run/program.h"
#include "core/tflite/lower.h"
#include "core/tflite/operators.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using namespace tersor::tflite;
using test::NamedModel;

namespace {

using Floats = std::vector<float>;

Tensor run_one(const Model& model, const Tensor& input) {
  const auto program = run::Program::compile(model, ops::standard().with(operators()));
  return run::Runner(program).run(std::vector<Tensor>{input})[0];
}

Tensor counted(const Shape& shape) {
  Tensor tensor = Tensor::make(DType::kFloat32, shape);
  for (size_t k = 0; k < tensor.mutable_data<float>().size(); ++k)
    tensor.mutable_data<float>()[k] = static_cast<float>(k) - 5;
  return tensor;
}

NetworkTensor codes(const std::string& name, std::vector<int32_t> shape, float scale = 1, int64_t zero_point = 0) {
  return {name, std::move(shape), DType::kInt8, {{scale}, {zero_point}, 0}};
}

Network of_operators(std::vector<NetworkTensor> tensors, std::vector<Operator> operators) {
  Network network;
  network.outputs = {static_cast<int32_t>(tensors.size()) - 1};
  network.tensors = std::move(tensors);
  network.operators = std::move(operators);
  network.inputs = {0};
  return network;
}

std::string message_of(const Model& model, const Tensor& input) {
  try {
    run_one(model, input);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::vector<Dim> dims_of(const Model& model, const std::vector<ValueId>& ends) {
  return *model.graph.value(ends[0]).shape;
}

}  // namespace

TEST_CASE("an int8 file computes on real numbers") {
  const Network network =
      of_operators({codes("x", {1, 2}, 0.5F), codes("y", {1, 2}, 0.5F)}, {{Code::kAdd, {0, 0}, {1}}});
  const Model model = integer_model(network);
  CHECK(is_integer_model(model));
  CHECK(model.graph.name_of(model.graph.inputs[0]) == "x");
  CHECK(model.graph.name_of(model.graph.outputs[0]) == "y");
  CHECK(run_one(model, Tensor::of<float>(Shape{1, 2}, {3.0F, -1.2F})) == Tensor::of<float>(Shape{1, 2}, {6.0F, -2.0F}));
}

TEST_CASE("what an operator lacks is said with its place") {
  Network network = of_operators({codes("x", {1, 2}), codes("y", {1, 2})}, {{Code::kAdd, {0}, {1}}});
  const Tensor x = Tensor::of<float>(Shape{1, 2}, {1, 2});
  CHECK(message_of(integer_model(network), x).find("\"y\" (ADD)") != std::string::npos);
  CHECK(message_of(integer_model(network), x).find("lacks an input") != std::string::npos);
  network.operators[0].inputs = {0, 0};
  CHECK(message_of(integer_model(network), x).empty());
  network.tensors[1].quantization.zero_point = {300};
  CHECK(message_of(integer_model(network), x).find("zero point") != std::string::npos);
  network.tensors[1] = {"y", {1, 2}, DType::kFloat32};
  network.tensors[0] = {"x", {1, 2}, DType::kFloat32};
  CHECK(message_of(integer_model(network), x).find("ADD of float32") != std::string::npos);
  CHECK_FALSE(runs_here(network));
}

TEST_CASE("a tensor that two operators write is refused") {
  const Network network =
      of_operators({codes("x", {1, 2}), codes("y", {1, 2})}, {{Code::kRelu, {0}, {1}}, {Code::kRelu, {0}, {1}}});
  CHECK_THROWS_AS(integer_model(network), Error);
}

TEST_CASE("a file takes and gives what its float model does") {
  const Network network =
      of_operators({codes("image", {1, 3, 4, 2}), codes("out", {1, 3, 4, 2})}, {{Code::kRelu, {0}, {1}}});
  NamedModel reference;
  reference.input("x", {1, 2, 3, 4}).node("Relu", {"x"}, {"y"}).output("y");
  const Model own = integer_model(network), model = as_made_from(own, reference.build());
  CHECK(dims_of(own, own.graph.inputs)[3] == Dim{2, ""});
  CHECK(dims_of(model, model.graph.inputs)[1] == Dim{2, ""});
  CHECK(model.graph.name_of(model.graph.inputs[0]) == "x");
  CHECK(model.graph.name_of(model.graph.outputs[0]) == "y");
  CHECK(model.graph.find("x_DequantizeLinear_Output"));
  const Tensor x = counted(Shape{1, 2, 3, 4});
  CHECK(run_one(model, x) == run_one(reference.build(), x));
}

TEST_CASE("where sizes do not tell the order of axes, the operators around do") {
  Options along;
  along.axis = 3;
  const Network network = of_operators({codes("x", {1, 2, 2, 2}), codes("r", {1, 2, 2, 2}), codes("y", {1, 2, 2, 4})},
                                       {{Code::kRelu, {0}, {1}}, {Code::kConcatenation, {0, 1}, {2}, along}});
  NamedModel reference;
  reference.input("x", {1, 2, 2, 2}).node("Relu", {"x"}, {"r"});
  reference.node("Concat", {"x", "r"}, {"y"}, {{"axis", int64_t{1}}}).output("y");
  const Model model = as_made_from(integer_model(network), reference.build());
  const Tensor x = counted(Shape{1, 2, 2, 2});
  CHECK(run_one(model, x) == run_one(reference.build(), x));
  CHECK(model.graph.find("r_DequantizeLinear_Output"));
}

TEST_CASE("a file of two inputs more than the model is none of it") {
  const Network network = of_operators({codes("x", {1, 2}), codes("y", {1, 2})}, {{Code::kRelu, {0}, {1}}});
  NamedModel reference;
  reference.input("x", {1, 2}).input("z", {1, 2}).node("Add", {"x", "z"}, {"y"}).output("y");
  CHECK_THROWS_AS(as_made_from(integer_model(network), reference.build()), Error);
}

TEST_CASE("what a quantized model becomes has the model's own inputs and names") {
  NamedModel model;
  const auto quantized = [&](const std::string& name, float scale) {
    model.constant(name + ".s", Tensor::scalar(scale)).constant(name + ".z", Tensor::scalar<int8_t>(0));
    model.node("QuantizeLinear", {name, name + ".s", name + ".z"}, {name + ".q"});
    model.node("DequantizeLinear", {name + ".q", name + ".s", name + ".z"}, {name + ".d"});
  };
  model.input("x", {1, 2, 3, 4});
  quantized("x", 1);
  model.node("MaxPool", {"x.d"}, {"y"}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  quantized("y", 1);
  model.output("y.d");
  const Model built = model.build(), lowered = lowered_model(built);
  CHECK(is_integer_model(lowered));
  CHECK(lowered.graph.name_of(lowered.graph.outputs[0]) == "y.d");
  const Tensor x = counted(Shape{1, 2, 3, 4});
  CHECK(run_one(lowered, x) == run_one(built, x));
}
