// SPDX-License-Identifier: Apache-2.0
#include "core/run/control.h"

#include <limits>
#include <map>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;
using tersor::test::ModelBuilder;

namespace {

std::vector<Tensor> results_of(const Model& model, std::vector<Tensor> inputs, const run::ProgramOptions& options = {},
                               run::Observer* observer = nullptr) {
  return run::Runner(run::Program::compile(model, ops::standard(), options)).run(inputs, observer);
}

Error error_of(const Model& model, std::vector<Tensor> inputs, const run::ProgramOptions& options = {}) {
  try {
    results_of(model, std::move(inputs), options);
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error(ErrorCode::kInternal, "");
}

std::vector<float> floats(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

Tensor list(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
}

/// A subgraph that reads outer values by name.
struct Inner : ModelBuilder {
  ValueId outer(const std::string& name) { return model.graph.add_value(name); }
  ValueId given(const std::string& name) {
    model.graph.inputs.push_back(model.graph.add_value(name));
    return model.graph.inputs.back();
  }
  Attribute graph(const std::vector<ValueId>& outputs) {
    model.graph.outputs = outputs;
    return std::make_shared<const Graph>(model.graph);
  }
};

Attribute branch_adding(const std::string& outer, float amount) {
  Inner inner;
  return inner.graph({inner.node("Add", {inner.outer(outer), inner.floats({}, {amount})})});
}

/// Loop over x: x becomes x + x, and each step's x is given too.
struct Doubling {
  ModelBuilder builder;
  ValueId x, trips, goes_on;
  Inner body;

  explicit Doubling(bool ends = false) {
    x = builder.input("x", {-1});
    trips = builder.input("trips", {}, DType::kInt64);
    goes_on = builder.input("goes_on", {}, DType::kBool);
    body.given("step");
    const ValueId condition = body.given("condition"), carried = body.given("carried");
    const ValueId sum = body.node("Add", {carried, carried});
    ValueId next = body.node("Identity", {condition});
    if (ends)  // while the first element is below 100
      next = body.node("Less", {body.node("ReduceMax", {sum}, {{"keepdims", int64_t{0}}}), body.floats({}, {100})});
    body.model.graph.value(sum).dtype = DType::kFloat32;
    const auto outputs = builder.nodes("Loop", {trips, goes_on, x}, 2, {{"body", body.graph({next, sum, sum})}});
    for (const ValueId id : outputs) builder.output(id);
  }

  std::vector<Tensor> inputs(const std::vector<float>& values, int64_t count, bool condition = true) const {
    return {list(values), Tensor::scalar(count), Tensor::scalar(condition)};
  }
};

struct Recorder : run::Observer {
  std::map<ValueId, std::vector<float>> seen;
  std::vector<size_t> steps;
  void observe(const run::ObservedTensor& tensor) override {
    REQUIRE(seen.count(tensor.value) == 0);
    seen[tensor.value].assign(tensor.data.begin(), tensor.data.end());
  }
  void step_done(size_t node_index) override { steps.push_back(node_index); }
};

}  // namespace

TEST_CASE("If runs the branch that its condition names") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), c = builder.input("c", {}, DType::kBool);
  Inner both;
  const ValueId outer = both.outer("x");
  const ValueId twice = both.node("Concat", {outer, outer}, {{"axis", int64_t{0}}});
  const ValueId y =
      builder.node("If", {c}, {{"then_branch", branch_adding("x", 10)}, {"else_branch", both.graph({twice})}});
  builder.output(builder.node("Relu", {y}));
  builder.output(x);
  run::Runner runner(run::Program::compile(builder.model, ops::standard()));
  for (int round = 0; round < 2; ++round) {
    const auto then = runner.run(std::vector<Tensor>{list({1, -20}), Tensor::scalar(true)});
    REQUIRE(floats(then[0]) == std::vector<float>{11, 0});
    REQUIRE(floats(then[1]) == std::vector<float>{1, -20});
    const auto other = runner.run(std::vector<Tensor>{list({1, -20, 3}), Tensor::scalar(false)});
    REQUIRE(floats(other[0]) == std::vector<float>{1, 0, 3, 1, 0, 3});
  }
}

TEST_CASE("a branch reads values and weights of every graph around it") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), c = builder.input("c", {}, DType::kBool);
  const ValueId w = builder.model.graph.add_initializer("weight", list({2, 3}));
  builder.output(builder.node("Mul", {x, w}));
  const auto level = [](Attribute then, Attribute otherwise) {
    Inner inner;
    return inner.graph({inner.node("If", {inner.outer("c")}, {{"then_branch", then}, {"else_branch", otherwise}})});
  };
  Inner deep;
  const ValueId outside = deep.outer("Mul");
  const ValueId product = deep.node("Mul", {deep.outer("weight"), deep.outer("x")});
  const Attribute innermost = deep.graph({deep.node("Sub", {product, outside})});
  builder.output(builder.node(
      "If", {c},
      {{"then_branch", level(innermost, branch_adding("x", 1))}, {"else_branch", branch_adding("weight", 1)}}));
  REQUIRE(floats(results_of(builder.model, {list({5, 7}), Tensor::scalar(true)})[1]) == std::vector<float>{0, 0});
  REQUIRE(floats(results_of(builder.model, {list({5, 7}), Tensor::scalar(false)})[1]) == std::vector<float>{3, 4});
}

TEST_CASE("a value that a branch reads is made, not clamped away") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), c = builder.input("c", {}, DType::kBool);
  const ValueId sum = builder.node("Add", {x, builder.floats({}, {1})});
  const ValueId relu = builder.node("Relu", {sum});
  const ValueId y =
      builder.node("If", {c}, {{"then_branch", branch_adding("Add", 0)}, {"else_branch", branch_adding("Add", 1)}});
  builder.output(relu);
  builder.output(y);
  Recorder recorder;
  run::ProgramOptions options;
  options.observed = {y, sum};
  options.fetched = {y};
  const auto results = results_of(builder.model, {list({-3, 3}), Tensor::scalar(true)}, options, &recorder);
  REQUIRE(floats(results[0]) == std::vector<float>{0, 4});
  REQUIRE(floats(results[1]) == std::vector<float>{-2, 4});
  REQUIRE(results[2] == results[1]);
  REQUIRE(recorder.seen[y] == std::vector<float>{-2, 4});
  REQUIRE(recorder.seen[sum] == std::vector<float>{-2, 4});
  REQUIRE(recorder.steps.back() == 2);
}

TEST_CASE("a branch that a constant condition never takes need not be supported") {
  ModelBuilder builder;
  builder.input("x", {-1});
  Inner strange;
  const Attribute unknown = strange.graph({strange.node("Whatever", {strange.outer("x")})});
  const ValueId yes = builder.weight(Tensor::scalar(true)), no = builder.weight(Tensor::scalar(false));
  builder.output(builder.node("If", {yes}, {{"then_branch", branch_adding("x", 1)}, {"else_branch", unknown}}));
  builder.output(builder.node("If", {no}, {{"then_branch", unknown}, {"else_branch", branch_adding("x", 2)}}));
  const auto results = results_of(builder.model, {list({1})});
  REQUIRE(floats(results[0]) == std::vector<float>{2});
  REQUIRE(floats(results[1]) == std::vector<float>{3});

  builder.output(builder.node("If", {builder.input("c", {}, DType::kBool)},
                              {{"then_branch", branch_adding("x", 1)}, {"else_branch", unknown}}));
  const Error error = error_of(builder.model, {list({1}), Tensor::scalar(true)});
  REQUIRE(error.code == ErrorCode::kUnsupportedModel);
  REQUIRE(error.place == "graph.node[2] \"If\" (If).else_branch.node[0] \"Whatever\" (Whatever)");
  const auto found = run::unsupported(builder.model, ops::standard());
  REQUIRE(found.size() == 3);
  REQUIRE(found[2].place == error.place);
  REQUIRE(found[2].node == builder.model.graph.nodes()[2].id);
}

TEST_CASE("what only a branch reads that is never taken is not made") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {2});
  const ValueId sum = builder.node("Add", {x, x});
  const ValueId product = builder.node("Mul", {sum, sum});
  Inner taken, never;
  const Attribute then_branch = taken.graph({taken.node("Neg", {taken.outer("x")})});
  const Attribute else_branch = never.graph({never.node("Neg", {never.outer(builder.model.graph.name_of(product))})});
  const ValueId condition = builder.weight(Tensor::scalar(true));
  builder.output(builder.node("If", {condition}, {{"then_branch", then_branch}, {"else_branch", else_branch}}));
  Recorder recorder;
  REQUIRE(floats(results_of(builder.model, {list({1, 2})}, {}, &recorder)[0]) == std::vector<float>{-1, -2});
  run::ProgramOptions options;
  options.observed = {sum};
  REQUIRE(floats(results_of(builder.model, {list({1, 2})}, options, &recorder)[0]) == std::vector<float>{-1, -2});
  REQUIRE(recorder.seen.at(sum) == std::vector<float>{2, 4});
}

TEST_CASE("Loop counts its steps and stops when its condition fails") {
  const Doubling loop;
  const auto four = results_of(loop.builder.model, loop.inputs({1, 3}, 4));
  REQUIRE(floats(four[0]) == std::vector<float>{16, 48});
  REQUIRE(four[1].shape() == Shape{4, 2});
  REQUIRE(floats(four[1]) == std::vector<float>{2, 6, 4, 12, 8, 24, 16, 48});

  const Doubling ending(true);
  const auto some = results_of(ending.builder.model, ending.inputs({1, 3}, 1000000000000));
  REQUIRE(floats(some[0]) == std::vector<float>{64, 192});
  REQUIRE(some[1].shape() == Shape{6, 2});

  for (const auto& none : {loop.inputs({1, 3}, 0), loop.inputs({1, 3}, -5), loop.inputs({1, 3}, 7, false)}) {
    const auto results = results_of(loop.builder.model, none);
    REQUIRE(floats(results[0]) == std::vector<float>{1, 3});
    REQUIRE(results[1].elements() == 0);
  }
}

TEST_CASE("a weight that a loop carries unchanged gives what one read by name gives") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1, 2}), trips = builder.input("trips", {}, DType::kInt64);
  const ValueId weight = builder.floats({2, 2}, {0, 2, 1, 0});
  Inner body;
  body.given("step");
  const ValueId condition = body.given("condition"), state = body.given("state"), carried = body.given("weight");
  const ValueId next = body.node("MatMul", {state, carried});
  const ValueId same = body.node("Identity", {body.node("Identity", {carried})});
  for (const ValueId id : {next, carried}) body.model.graph.value(id).dtype = DType::kFloat32;
  const auto outputs =
      builder.nodes("Loop", {trips, ValueId{}, x, weight}, 4,
                    {{"body", body.graph({body.node("Identity", {condition}), next, same, next, carried})}});
  for (const ValueId id : outputs) builder.output(id);
  const std::vector<float> held{0, 2, 1, 0};
  for (const int64_t count : {3, 0}) {
    const auto results =
        results_of(builder.model, {Tensor::of<float>({1, 2}, std::vector<float>{1, 3}), Tensor::scalar(count)});
    REQUIRE(floats(results[0]) == (count == 0 ? std::vector<float>{1, 3} : std::vector<float>{6, 4}));
    REQUIRE(floats(results[1]) == held);
    REQUIRE(floats(results[2]) == (count == 0 ? std::vector<float>{} : std::vector<float>{3, 2, 2, 6, 6, 4}));
    REQUIRE(results[3].elements() == 4 * count);
  }
}

TEST_CASE("a loop that carries a weight through Identities in a circle is refused") {
  ModelBuilder builder;
  const ValueId trips = builder.input("trips", {}, DType::kInt64), weight = builder.floats({2}, {0, 2});
  Inner body;
  body.given("step");
  const ValueId condition = body.given("condition");
  body.given("weight");
  const ValueId a = body.outer("a"), b = body.node("Identity", {a});
  Node back;
  back.op_type = "Identity";
  back.inputs = {b};
  back.outputs = {a};
  body.model.graph.append(std::move(back));
  builder.output(builder.nodes("Loop", {trips, ValueId{}, weight}, 1,
                               {{"body", body.graph({body.node("Identity", {condition}), a})}})[0]);
  REQUIRE(error_of(builder.model, {Tensor::scalar(int64_t{2})}).code == ErrorCode::kInvalidModel);
}

TEST_CASE("what a loop carries may change its shape from step to step") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), trips = builder.input("trips", {}, DType::kInt64);
  Inner body;
  const ValueId step = body.given("step"), condition = body.given("condition"), carried = body.given("carried");
  const ValueId number = body.node("Unsqueeze", {body.node("Cast", {step}, {{"to", int64_t{1}}}), body.ints({0})});
  const ValueId longer = body.node("Concat", {carried, number, body.outer("x")}, {{"axis", int64_t{0}}});
  const auto outputs = builder.nodes("Loop", {trips, ValueId{}, x}, 1,
                                     {{"body", body.graph({body.node("Identity", {condition}), longer})}});
  const ValueId length = builder.node("Shape", {outputs[0]});
  builder.output(builder.node("ConstantOfShape", {length}));
  builder.output(outputs[0]);
  for (int64_t count : {2, 0}) {
    const auto results = results_of(builder.model, {list({8, 9}), Tensor::scalar(count)});
    REQUIRE(floats(results[1]) == (count == 0 ? std::vector<float>{8, 9} : std::vector<float>{8, 9, 0, 8, 9, 1, 8, 9}));
    REQUIRE(results[0].shape() == results[1].shape());
  }
}

TEST_CASE("a loop without end ends in an error") {
  run::ProgramOptions options;
  options.loop_limit = 1000;
  const Doubling endless(true), loop;  // what stays 0 never reaches 100
  Model model = endless.builder.model;
  model.graph.nodes()[0].inputs[0] = ValueId{};
  Error error = error_of(model, endless.inputs({0}, 0), options);
  REQUIRE(error.code == ErrorCode::kUnsupportedModel);
  REQUIRE(error.place == "graph.node[0] \"Loop\" (Loop)");
  REQUIRE(error.message.find("1000 steps") != std::string::npos);

  options = {};
  REQUIRE(options.loop_limit == 1 << 20);
  options.memory_limit = 1 << 16;
  error = error_of(loop.builder.model, loop.inputs(std::vector<float>(100, 0), 1000), options);
  REQUIRE(error.code == ErrorCode::kOutOfMemory);

  // The steps of a loop inside a loop count too.
  ModelBuilder outer;
  outer.input("x", {-1});
  outer.input("goes_on", {}, DType::kBool);
  const ValueId trips = outer.input("trips", {}, DType::kInt64);
  Inner body;
  body.given("step");
  const ValueId condition = body.given("condition");
  const auto inner =
      body.nodes("Loop", {body.outer("trips"), ValueId{}, body.outer("x")}, 2,
                 {{"body", *loop.builder.model.graph.nodes()[0].attribute<std::shared_ptr<const Graph>>("body")}});
  outer.output(outer.nodes("Loop", {trips, ValueId{}}, 1,
                           {{"body", body.graph({body.node("Identity", {condition}), inner[0]})}})[0]);
  options = {};
  options.loop_limit = 110;
  const auto inputs = [](int64_t count) {
    return std::vector<Tensor>{list({1}), Tensor::scalar(true), Tensor::scalar(count)};
  };
  REQUIRE(results_of(outer.model, inputs(10), options)[0].shape() == Shape{10, 1});
  error = error_of(outer.model, inputs(11), options);
  REQUIRE(error.place == "graph.node[0] \"Loop\" (Loop).body.node[0] \"Loop\" (Loop)");
}

TEST_CASE("a loop whose condition cannot change is refused after its first step") {
  ModelBuilder builder;
  const ValueId trips = builder.input("trips", {}, DType::kInt64);
  const ValueId x = builder.input("x", {-1});
  Inner body;
  body.given("step");
  const ValueId condition = body.given("condition");
  const ValueId carried = body.given("carried");
  const ValueId goes_on = body.node("Identity", {condition});
  builder.output(builder.nodes("Loop", {trips, ValueId{}, x}, 1,
                               {{"body", body.graph({goes_on, body.node("Neg", {carried})})}})[0]);
  const auto after = [&](int64_t count) { return results_of(builder.model, {Tensor::scalar(count), list({1, 2})}); };
  REQUIRE(floats(after(3)[0]) == std::vector<float>{-1, -2});
  const Error error = error_of(builder.model, {Tensor::scalar(std::numeric_limits<int64_t>::max()), list({1, 2})}, {});
  REQUIRE(error.code == ErrorCode::kUnsupportedModel);
  REQUIRE(error.message == "The loop has no end: its condition is the same in every step.");
}

TEST_CASE("a loop that grows beyond memory is refused") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), trips = builder.input("trips", {}, DType::kInt64);
  Inner body;
  body.given("step");
  const ValueId condition = body.given("condition"), carried = body.given("carried");
  const ValueId longer = body.node("Concat", {carried, carried}, {{"axis", int64_t{0}}});
  builder.output(builder.nodes("Loop", {trips, ValueId{}, x}, 1,
                               {{"body", body.graph({body.node("Identity", {condition}), longer})}})[0]);
  run::ProgramOptions options;
  options.memory_limit = 1 << 20;
  const Error error = error_of(builder.model, {list({1}), Tensor::scalar<int64_t>(60)}, options);
  REQUIRE(error.code == ErrorCode::kOutOfMemory);
}

TEST_CASE("Scan walks along the axes and in the directions that its attributes name") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {2, 3}), w = builder.input("w", {3});
  Inner body;
  const ValueId sum = body.given("sum"), column = body.given("column"), factor = body.given("factor");
  const ValueId next = body.node("Add", {sum, body.node("Mul", {column, factor})});
  const Attribute graph = body.graph({next, body.node("Identity", {next})});
  const auto outputs = builder.nodes("Scan", {builder.floats({2}, {0, 0}), x, w}, 2,
                                     {{"body", graph},
                                      {"num_scan_inputs", int64_t{2}},
                                      {"scan_input_axes", std::vector<int64_t>{-1, 0}},
                                      {"scan_input_directions", std::vector<int64_t>{0, 1}},
                                      {"scan_output_axes", std::vector<int64_t>{1}},
                                      {"scan_output_directions", std::vector<int64_t>{1}}});
  for (const ValueId id : outputs) builder.output(id);
  const auto results = results_of(builder.model, {Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), list({1, 10, 100})});
  REQUIRE(floats(results[0]) == std::vector<float>{123, 456});
  REQUIRE(results[1].shape() == Shape{2, 3});
  REQUIRE(floats(results[1]) == std::vector<float>{123, 120, 100, 456, 450, 400});
}

TEST_CASE("nodes with subgraphs that cannot be right are refused") {
  const auto refused = [](const Model& model, std::vector<Tensor> inputs, const char* part) {
    const Error error = error_of(model, std::move(inputs));
    INFO(error.what());
    CHECK(error.code == ErrorCode::kInvalidModel);
    CHECK(error.place.find("graph.node[0]") == 0);
    CHECK(std::string(error.what()).find(part) != std::string::npos);
  };
  const Doubling loop;
  const auto changed = [&](auto change) {
    Model model = loop.builder.model;
    change(model.graph.nodes()[0]);
    return model;
  };
  const auto inputs = loop.inputs({1, 2}, 3);
  refused(changed([](Node& node) { node.attributes.erase("body"); }), inputs, "body is missing");
  refused(changed([](Node& node) { node.attributes["body"] = int64_t{1}; }), inputs, "must be a graph");
  refused(changed([](Node& node) { node.inputs.pop_back(); }), inputs, "needs one with 2");
  refused(changed([](Node& node) { node.inputs[2] = ValueId{}; }), inputs, "Input 2 is missing");
  refused(changed([](Node& node) { std::swap(node.inputs[0], node.inputs[1]); }), inputs,
          "trip count has the type bool");
  refused(changed([](Node& node) { node.inputs[1] = node.inputs[0]; }), inputs, "condition of Loop has the type int64");
  refused(changed([](Node& node) { node.inputs[0] = node.inputs[2]; }), inputs, "trip count");
  refused(changed([](Node& node) { node.attributes["body"] = branch_adding("nowhere", 1); }), inputs, "\"nowhere\"");

  ModelBuilder builder;
  const ValueId a = builder.input("a", {-1}), b = builder.input("b", {-1});
  Inner body;
  const ValueId sum = body.node("Add", {body.given("p"), body.given("q")});
  const auto y = builder.nodes("Scan", {a, b}, 1, {{"body", body.graph({sum})}, {"num_scan_inputs", int64_t{2}}});
  builder.output(y[0]);
  REQUIRE(floats(results_of(builder.model, {list({1, 2}), list({3, 4})})[0]) == std::vector<float>{4, 6});
  refused(builder.model, {list({1, 2}), list({3})}, "2 and 1 steps");
  for (const int64_t count : {int64_t{0}, int64_t{3}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    builder.model.graph.nodes()[0].attributes["num_scan_inputs"] = count;
    refused(builder.model, {list({1, 2}), list({3, 4})}, "num_scan_inputs is");
  }
  builder.model.graph.nodes()[0].attributes["num_scan_inputs"] = int64_t{2};
  builder.model.graph.nodes()[0].attributes["scan_input_axes"] = std::vector<int64_t>{0, 5};
  refused(builder.model, {list({1, 2}), list({3, 4})}, "5");
}
