// SPDX-License-Identifier: Apache-2.0
// Gradients against differences: for random directions u, the sum of gradient times u against the derivative of the
// loss along u by five points. The loss is a random weighted sum of the outputs, in double.
#include "core/gradient/add_gradients.h"

#include <cmath>
#include <functional>
#include <random>

#include "core/base/error.h"
#include "core/gradient/rule.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using tersor::test::NamedModel;

namespace {

std::vector<float> random_floats(size_t n, uint32_t seed, float low, float high) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = low + (high - low) * (static_cast<float>(random() % 100000) / 100000.0f);
  return values;
}

struct Case {
  std::string name;
  std::function<void(NamedModel&)> build;  // inputs first; output "y"
  float low = -1, high = 1;                // of the inputs
  double step = 0.02;
  int64_t opset = 13;
};

/// Inputs are all wanted. Loss: sum of weights times y.
void check(const Case& one) {
  INFO(one.name);
  NamedModel named(3);
  one.build(named);
  named.output("y");
  Model model = named.build();
  model.opset_imports[0].version = one.opset;
  const Graph& graph = model.graph;

  std::vector<Tensor> inputs;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    std::vector<int64_t> dims;
    for (const Dim& dim : *graph.value(graph.inputs[k]).shape) dims.push_back(dim.value);
    shapes.emplace_back(dims);
    inputs.push_back(Tensor::of<float>(shapes.back(), random_floats(static_cast<size_t>(shapes.back().elements()),
                                                                    7 + static_cast<uint32_t>(k), one.low, one.high)));
  }
  run::Runner forward(run::Program::compile(model, ops::standard()));
  const Tensor y = forward.run(inputs)[0];
  const std::vector<float> by_y = random_floats(static_cast<size_t>(y.elements()), 99, -1, 1);

  Model with = model;
  const ValueId seed = with.graph.add_initializer("by_y", Tensor::of<float>(y.shape(), by_y));
  const auto found = gradient::add_gradients(with, {{graph.outputs[0], seed}}, graph.inputs,
                                             gradient::ranks_of(model, ops::standard(), shapes));
  for (const gradient::Frozen& frozen : found.frozen) FAIL(frozen.place << " " << frozen.reason);
  run::ProgramOptions options;
  for (const ValueId value : found.by_value) {
    REQUIRE(value.valid());
    options.fetched.push_back(value);
  }
  const std::vector<Tensor> results =
      run::Runner(run::Program::compile(with, gradient::operators(), options)).run(inputs);

  const auto loss_at = [&](size_t moved, const std::vector<float>& direction, double step) {
    std::vector<Tensor> at = inputs;
    const auto old = inputs[moved].data<float>();
    std::vector<float> values(old.begin(), old.end());
    for (size_t k = 0; k < values.size(); ++k) values[k] += static_cast<float>(step) * direction[k];
    at[moved] = Tensor::of<float>(shapes[moved], values);
    const Tensor result = forward.run(at)[0];
    double loss = 0;
    for (size_t k = 0; k < by_y.size(); ++k)
      loss += static_cast<double>(by_y[k]) * static_cast<double>(result.data<float>()[k]);
    return loss;
  };
  for (size_t k = 0; k < inputs.size(); ++k) {
    INFO("input " << k);
    const Tensor& gradient = results[1 + k];
    REQUIRE(gradient.shape() == shapes[k]);
    for (uint32_t round = 0; round < 3; ++round) {
      const auto u = random_floats(static_cast<size_t>(gradient.elements()), 1000 + round, -1, 1);
      double exact = 0, scale = 0;
      for (size_t e = 0; e < u.size(); ++e) {
        const double term = static_cast<double>(u[e]) * static_cast<double>(gradient.data<float>()[e]);
        exact += term;
        scale += std::fabs(term);
      }
      const double h = one.step;
      const double measured =
          (8 * (loss_at(k, u, h) - loss_at(k, u, -h)) - (loss_at(k, u, 2 * h) - loss_at(k, u, -2 * h))) / (12 * h);
      CHECK(std::fabs(measured - exact) <= 1e-4 * scale);
    }
  }
}

using Named = std::map<std::string, Attribute>;

std::vector<int64_t> ints(std::initializer_list<int64_t> values) {
  return values;
}

/// One node of the type over inputs a, b, ... of those shapes.
Case node(const std::string& type, std::vector<std::vector<int64_t>> dims, Named attributes = {}, float low = -1,
          float high = 1, double step = 0.02) {
  std::string name = type;
  for (const auto& [key, value] : attributes) name += " " + key;
  return {name,
          [=](NamedModel& m) {
            std::vector<std::string> inputs;
            for (size_t k = 0; k < dims.size(); ++k) {
              inputs.push_back(std::string(1, static_cast<char>('a' + k)));
              m.input(inputs.back(), dims[k]);
            }
            m.node(type, inputs, {"y"}, attributes);
          },
          low, high, step};
}

/// The same after constants given as further inputs.
Case with_constants(const std::string& type, std::vector<int64_t> dims,
                    std::vector<std::pair<std::string, Tensor>> constants, Named attributes = {}) {
  return {type, [=](NamedModel& m) {
            m.input("a", dims);
            std::vector<std::string> inputs{"a"};
            for (const auto& [name, tensor] : constants) {
              m.constant(name, tensor);
              inputs.push_back(name);
            }
            m.node(type, inputs, {"y"}, attributes);
          }};
}

Tensor list(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("gradients of arithmetic, broadcast too") {
  for (const char* type : {"Add", "Sub", "Mul"}) {
    check(node(type, {{2, 3, 4}, {2, 3, 4}}));
    check(node(type, {{2, 3, 4}, {3, 1}}));
    check(node(type, {{4}, {2, 1, 4}}));
    check(node(type, {{2, 3}, {1}}));
  }
  check(node("Div", {{2, 3}, {3}}, {}, 0.5f, 1.5f, 0.01));
  check(node("Sum", {{2, 3}, {3}, {1}}));
  check(node("Mean", {{2, 3}, {3}, {1}}));
  check(node("Max", {{3, 2}, {3, 2}}, {}, -1, 1, 1e-3));
  check(node("PRelu", {{4, 5}, {5}}, {}, 0.2f, 1));
  check(with_constants("Pow", {3, 4}, {{"e", Tensor::scalar<float>(2)}}));
  check({"Where", [](NamedModel& m) {
           m.input("a", {2, 3}).input("b", {3});
           m.constant("zero", Tensor::scalar<float>(0)).constant("c", Tensor::of<float>({3}, {-1, 2, 3}));
           m.node("Greater", {"c", "zero"}, {"chosen"}).node("Where", {"chosen", "a", "b"}, {"y"});
         }});
}

TEST_CASE("gradients element by element") {
  for (const char* type : {"Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "Softsign", "Mish", "Neg", "Sin", "Cos"})
    check(node(type, {{3, 5}}));
  for (const char* type : {"Relu", "Abs", "LeakyRelu", "Elu", "Selu", "Celu"}) {
    check(node(type, {{3, 5}}, {}, 0.2f, 1));
    check(node(type, {{3, 5}}, {}, -1, -0.2f));
  }
  for (const char* type : {"Log", "Sqrt", "Reciprocal"}) check(node(type, {{3, 5}}, {}, 1, 2));
  check(node("ThresholdedRelu", {{3, 5}}, {}, 1.2f, 2));
  check(node("HardSigmoid", {{3, 5}}));
  check(node("Identity", {{3, 5}}));
  check(with_constants("Clip", {3, 5}, {{"low", Tensor::scalar<float>(-2)}, {"high", Tensor::scalar<float>(2)}}));
  const auto newer = [](const char* type, int64_t opset, Named attributes = {}) {
    return Case{type, [=](NamedModel& m) { m.input("a", {3, 300}).node(type, {"a"}, {"y"}, attributes); }, -1, 1, 0.02,
                opset};
  };
  check(newer("HardSwish", 14));
  check(newer("Gelu", 20));
  check(newer("Gelu", 20, {{"approximate", std::string("tanh")}}));
  check(newer("Swish", 24, {{"alpha", 1.5f}}));
}

TEST_CASE("gradients of products") {
  check(node("MatMul", {{3, 4}, {4, 5}}));
  check(node("MatMul", {{2, 3, 4}, {4, 5}}));
  check(node("MatMul", {{2, 3, 4}, {2, 4, 5}}));
  check(node("MatMul", {{2, 2, 3, 4}, {1, 2, 4, 5}}));
  for (const int64_t a : {0, 1})
    for (const int64_t b : {0, 1}) {
      const std::vector<int64_t> left = a != 0 ? ints({4, 3}) : ints({3, 4});
      const std::vector<int64_t> right = b != 0 ? ints({5, 4}) : ints({4, 5});
      check(node("Gemm", {left, right, {5}}, {{"transA", a}, {"transB", b}, {"alpha", 0.5f}, {"beta", 2.0f}}));
    }
}

TEST_CASE("gradients of convolutions") {
  check(node("Conv", {{2, 3, 7, 6}, {4, 3, 3, 3}, {4}}, {{"pads", ints({1, 1, 1, 1})}}));
  check(node("Conv", {{1, 3, 8, 7}, {4, 3, 3, 2}, {4}}, {{"strides", ints({2, 3})}}));
  check(
      node("Conv", {{1, 3, 8, 7}, {4, 3, 3, 3}}, {{"strides", ints({2, 2})}, {"auto_pad", std::string("SAME_UPPER")}}));
  check(node("Conv", {{1, 3, 9, 9}, {2, 3, 3, 3}}, {{"dilations", ints({2, 2})}, {"pads", ints({2, 2, 2, 2})}}));
  check(node("Conv", {{1, 4, 6, 6}, {6, 2, 3, 3}}, {{"group", int64_t{2}}}));
  check(node("Conv", {{2, 5, 7, 7}, {5, 1, 3, 3}, {5}}, {{"group", int64_t{5}}, {"pads", ints({1, 1, 1, 1})}}));
  check(node("Conv", {{1, 5, 8, 8}, {5, 1, 3, 3}},
             {{"group", int64_t{5}}, {"strides", ints({2, 2})}, {"pads", ints({0, 0, 1, 1})}}));
  check(node("Conv", {{2, 3, 9}, {4, 3, 3}, {4}}, {{"strides", ints({2})}, {"pads", ints({1, 1})}}));
  check(node("Conv", {{1, 8, 5, 5}, {16, 8, 1, 1}}));
  check(node("ConvTranspose", {{1, 3, 4, 5}, {3, 4, 3, 3}, {4}},
             {{"strides", ints({2, 2})}, {"pads", ints({1, 1, 1, 1})}, {"output_padding", ints({1, 1})}}));
  check(node("ConvTranspose", {{1, 4, 4, 4}, {4, 2, 2, 2}}, {{"strides", ints({2, 2})}, {"group", int64_t{2}}}));
}

TEST_CASE("gradients of pooling") {
  check(node("MaxPool", {{2, 3, 6, 6}}, {{"kernel_shape", ints({2, 2})}, {"strides", ints({2, 2})}}, -1, 1, 1e-3));
  check(node("MaxPool", {{1, 2, 7, 7}},
             {{"kernel_shape", ints({3, 3})}, {"strides", ints({2, 2})}, {"pads", ints({1, 1, 1, 1})}}, -1, 1, 1e-3));
  check(node("AveragePool", {{1, 2, 7, 7}}, {{"kernel_shape", ints({3, 3})}, {"pads", ints({1, 1, 1, 1})}}));
  check(node("AveragePool", {{1, 2, 7, 7}},
             {{"kernel_shape", ints({3, 3})}, {"pads", ints({1, 1, 1, 1})}, {"count_include_pad", int64_t{1}}}));
  check(node("GlobalAveragePool", {{2, 3, 4, 5}}));
  check(node("GlobalMaxPool", {{2, 3, 4, 5}}, {}, -1, 1, 1e-3));
}

TEST_CASE("gradients of what moves elements") {
  check(with_constants("Reshape", {2, 3, 4}, {{"shape", list({4, 6})}}));
  check(node("Flatten", {{2, 3, 4}}));
  check(with_constants("Squeeze", {2, 1, 4}, {{"axes", list({1})}}));
  check(with_constants("Unsqueeze", {2, 4}, {{"axes", list({1})}}));
  check(node("Transpose", {{2, 3, 4}}, {{"perm", ints({2, 0, 1})}}));
  check(node("Transpose", {{2, 3, 4}}));
  check(node("Concat", {{2, 3}, {2, 4}, {2, 1}}, {{"axis", int64_t{1}}}));
  check(with_constants(
      "Slice", {5, 6},
      {{"starts", list({1, -1})}, {"ends", list({4, -7})}, {"axes", list({0, 1})}, {"steps", list({1, -2})}}));
  check(with_constants("Gather", {5, 3}, {{"indices", Tensor::of<int64_t>({2, 2}, {1, 4, 1, 0})}}));
  check(with_constants("Expand", {3, 1}, {{"shape", list({2, 3, 4})}}));
  check(with_constants("Tile", {2, 3}, {{"repeats", list({2, 2})}}));
  check(with_constants("Pad", {2, 3}, {{"pads", list({1, 0, 2, 1})}}));
  check(with_constants("Pad", {4, 4}, {{"pads", list({1, 1, 2, 1})}}, {{"mode", std::string("reflect")}}));
  check(node("DepthToSpace", {{1, 8, 2, 3}}, {{"blocksize", int64_t{2}}}));
  check(node("SpaceToDepth", {{1, 2, 4, 6}}, {{"blocksize", int64_t{2}}}));
  check({"Resize", [](NamedModel& m) {
           m.input("a", {1, 2, 3, 4});
           m.constant("none", Tensor::make(DType::kFloat32, {0}));
           m.constant("scales", Tensor::of<float>({4}, {1, 1, 2, 2}));
           m.node("Resize", {"a", "none", "scales"}, {"y"}, {{"mode", std::string("nearest")}});
         }});
  check({"Split", [](NamedModel& m) {
           m.input("a", {2, 7}).constant("sizes", list({3, 3, 1}));
           m.node("Split", {"a", "sizes"}, {"p", "q", "r"}, {{"axis", int64_t{1}}}).node("Mul", {"p", "q"}, {"y"});
         }});
}

TEST_CASE("gradients of reductions and normalizations") {
  for (const char* type : {"ReduceMean", "ReduceL2", "ReduceSumSquare"})
    for (const int64_t keep : {0, 1})
      check(node(type, {{2, 3, 4}}, {{"axes", ints({-1, 0})}, {"keepdims", keep}}, 0.3f, 1));
  check(node("ReduceMean", {{2, 3, 4}}));
  check(node("ReduceMax", {{2, 3, 4}}, {{"axes", ints({1})}}, -1, 1, 1e-3));
  check(with_constants("ReduceSum", {2, 3, 4}, {{"axes", list({1})}}));
  check(node("Softmax", {{2, 5}}));
  check(node("Softmax", {{2, 5, 3}}, {{"axis", int64_t{1}}}));
  check(node("LogSoftmax", {{2, 5}}));
  for (const char* type : {"LayerNormalization", "RMSNormalization"})
    for (const int64_t axis : {-1, 1})
      check({type,
             [=](NamedModel& m) {
               m.input("a", {2, 3, 8}).weight("s", axis == 1 ? ints({3, 8}) : ints({8}));
               m.node(type, {"a", "s"}, {"y"}, {{"axis", axis}});
             },
             -1, 1, 0.02, 23});
  check({"BatchNormalization", [](NamedModel& m) {
           m.input("a", {2, 3, 4, 4});
           m.weight("s", {3}, 0.5f, 1).weight("b", {3}).weight("m", {3}).weight("v", {3}, 0.5f, 1);
           m.node("BatchNormalization", {"a", "s", "b", "m", "v"}, {"y"});
         }});
}

namespace {

/// What CrossEntropy makes of logits [2, 4]: dL by them, and L.
std::vector<Tensor> cross_entropy(const std::vector<float>& logits, int64_t label) {
  NamedModel named;
  named.input("logits", {2, 4});
  named.constant("label", Tensor::of<int64_t>({1}, {label})).constant("factors", Tensor::of<float>({2}, {9, 0.5f}));
  Model model = named.build();
  model.opset_imports.push_back({std::string(gradient::kGradientDomain), 1});
  Node node;
  node.op_type = "CrossEntropy";
  node.domain = gradient::kGradientDomain;
  node.attributes["index"] = int64_t{1};
  for (const char* input : {"logits", "label", "factors"}) node.inputs.push_back(*model.graph.find(input));
  node.outputs = {model.graph.add_value("by_logits"), model.graph.add_value("loss")};
  run::ProgramOptions options;
  options.fetched = node.outputs;
  model.graph.append(std::move(node));
  return run::Runner(run::Program::compile(model, gradient::operators(), options))
      .run(std::vector<Tensor>{Tensor::of<float>({2, 4}, logits)});
}

}  // namespace

TEST_CASE("the cross-entropy of a label, and its gradient against differences") {
  const std::vector<float> logits = random_floats(8, 3, -2, 2);
  const std::vector<Tensor> found = cross_entropy(logits, 2);
  double sum = 0;
  for (size_t row = 0; row < 2; ++row) {
    double all = 0;
    for (size_t k = 0; k < 4; ++k) all += std::exp(static_cast<double>(logits[4 * row + k]));
    sum += std::log(all) - static_cast<double>(logits[4 * row + 2]);
  }
  CHECK(found[1].data<float>()[0] == Approx(0.25 * sum).epsilon(1e-6));
  for (size_t k = 0; k < logits.size(); ++k) {
    constexpr float kStep = 0.02f;
    const auto loss_at = [&](float by) {
      std::vector<float> moved = logits;
      moved[k] += by;
      return static_cast<double>(cross_entropy(moved, 2)[1].data<float>()[0]);
    };
    const double measured = (loss_at(kStep) - loss_at(-kStep)) / (2 * static_cast<double>(kStep));
    CHECK(found[0].data<float>()[k] == Approx(measured).margin(1e-4));
  }
  const std::vector<Tensor> none = cross_entropy(logits, -1);
  CHECK(none[1].data<float>()[0] == 0);
  for (const float one : none[0].data<float>()) CHECK(one == 0);
  CHECK_THROWS_WITH(cross_entropy(logits, 4), Catch::Matchers::Contains("A label is 4, and the output has 4 classes."));
}

TEST_CASE("gradients do not pass where they are stopped") {
  NamedModel named;
  named.input("a", {2, 3}).output("y");
  Model model = named.build();
  model.opset_imports.push_back({std::string(gradient::kGradientDomain), 1});
  const ValueId a = model.graph.inputs[0], stopped = model.graph.add_value("stopped");
  Node stop, add;
  stop.op_type = "StopGradient";
  stop.domain = gradient::kGradientDomain;
  stop.inputs = {a};
  stop.outputs = {stopped};
  add.op_type = "Add";
  add.inputs = {a, stopped};
  add.outputs = {model.graph.outputs[0]};
  model.graph.append(std::move(stop));
  model.graph.append(std::move(add));
  const Tensor ones = Tensor::of<float>({2, 3}, std::vector<float>(6, 1));
  const ValueId seed = model.graph.add_initializer("by_y", ones);
  const auto found = gradient::add_gradients(model, {{model.graph.outputs[0], seed}}, {a}, {});
  run::ProgramOptions options;
  options.fetched = {found.by_value[0]};
  const std::vector<Tensor> results =
      run::Runner(run::Program::compile(model, gradient::operators(), options)).run(std::vector<Tensor>{ones});
  for (const float y : results[0].data<float>()) CHECK(y == 2);
  for (const float by : results[1].data<float>()) CHECK(by == 1);
}

TEST_CASE("a value that several nodes read gets the sum, one that the loss does not depend on gets none") {
  check({"branches", [](NamedModel& m) {
           m.input("a", {2, 3});
           m.node("Sigmoid", {"a"}, {"s"}).node("Mul", {"a", "s"}, {"p"}).node("Add", {"p", "a"}, {"q"});
           m.node("Mul", {"q", "s"}, {"y"});
         }});
  NamedModel named;
  named.input("a", {2, 3}).input("b", {2, 3}).node("Relu", {"a"}, {"y"}).output("y");
  Model model = named.build();
  const ValueId seed = model.graph.add_initializer("by_y", Tensor::make(DType::kFloat32, {2, 3}));
  const auto found = gradient::add_gradients(model, {{model.graph.outputs[0], seed}}, model.graph.inputs, {});
  CHECK(found.by_value[0].valid());
  CHECK(!found.by_value[1].valid());
  CHECK(found.frozen.empty());
}

TEST_CASE("a node without a gradient is named") {
  NamedModel named;
  named.input("a", {2, 3}).node("CumSum", {"a"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  Model model = named.build();
  const ValueId seed = model.graph.add_initializer("by_y", Tensor::make(DType::kFloat32, {2, 3}));
  const auto found = gradient::add_gradients(model, {{model.graph.outputs[0], seed}}, model.graph.inputs, {});
  CHECK(!found.by_value[0].valid());
  REQUIRE(found.frozen.size() == 1);
  CHECK(found.frozen[0].place.find("CumSum") != std::string::npos);
}

TEST_CASE("every rule names an operator that the engine has, or a training") {
  for (const gradient::Rule& rule : gradient::rules()) {
    INFO(rule.type);
    bool known = rule.type == "Held";
    for (const ops::Op* op : gradient::operators().ops())
      known = known || (op->type == rule.type && op->domain == rule.domain);
    CHECK(known);
  }
}
