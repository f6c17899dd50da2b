// SPDX-License-Identifier: Apache-2.0
#include "core/export/body_weights.h"

#include "core/evaluate/output_difference.h"
#include "core/graph/uses.h"
#include "core/onnx/read.h"
#include "core/report/report_of.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace body_weights_test {
using namespace tersor;
using test::count;
using test::NamedModel;

namespace {

/// A step of a decoder in the form that exporters merge: one branch takes a cache, the other none, and both read all
/// weights from the graph around them. The If lies after nothing, or after a kernel of the graph itself.
Model decoder(bool has_own_kernel = false) {
  const auto branch = [](bool with_cache) {
    NamedModel body;
    body.node("Gather", {"table", "ids"}, {"e"}).node("MatMul", {"e", "w1"}, {"h"}).node("Relu", {"h"}, {"r"});
    if (with_cache) body.node("Concat", {"cache", "r"}, {"all"}, {{"axis", int64_t{0}}});
    const char* const state = with_cache ? "all" : "r";
    body.node("Identity", {state}, {"state"}).node("MatMul", {state, "w2"}, {"logits"});
    return std::make_shared<const Graph>(body.output("logits").output("state").build().graph);
  };
  NamedModel model;
  model.input("ids", {3}).input("cache", {2, 96}).input("use_cache", {});
  model.weight("table", {1100, 16}).weight("w1", {16, 96}).weight("w2", {96, 8});
  model.node("If", {"use_cache"}, {"y", "next"}, {{"then_branch", branch(true)}, {"else_branch", branch(false)}});
  model.output("y").output("next");
  if (has_own_kernel) model.input("x", {1, 16}).node("MatMul", {"x", "w1"}, {"own"}).output("own");
  Model built = model.build();
  built.graph.value(built.graph.inputs[0]).dtype = DType::kInt64;
  built.graph.value(built.graph.inputs[2]).dtype = DType::kBool;
  return built;
}

QuantizeResult weights_alone(const Model& model, const char* platform, const char* config = "{}") {
  Settings settings{tpc::get_target_platform_capabilities(platform),
                    config::read_quantization_config(std::string_view(config), "config")};
  const std::vector<std::byte> bytes = onnx::write(model);
  const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings);
  return quantize(*job, empty_statistics(*job));
}

std::vector<Tensor> run_once(const Model& model, bool use_cache) {
  const auto ramp = [](Shape shape) {
    std::vector<float> values;
    for (int64_t k = 0; k < shape.elements(); ++k) values.push_back(static_cast<float>(k % 7) / 7 - 0.4f);
    return Tensor::of<float>(std::move(shape), values);
  };
  Tensor condition = Tensor::make(DType::kBool, Shape{});
  condition.mutable_bytes()[0] = std::byte{use_cache};
  std::vector<Tensor> inputs = {Tensor::of<int64_t>({3}, {1, 1099, 7}), ramp({2, 96}), std::move(condition)};
  if (model.graph.inputs.size() > 3) inputs.push_back(ramp({1, 16}));
  return run::Runner(simulate::compile(model, simulate::Profile::kX64)).run(inputs);
}

double decibels(const Tensor& exact, const Tensor& value) {
  double signal = 0, noise = 0;
  for (size_t k = 0; k < exact.data<float>().size(); ++k) {
    const double x = exact.data<float>()[k], error = x - value.data<float>()[k];
    signal += x * x;
    noise += error * error;
  }
  return evaluate::decibels(signal, noise);
}

bool is_float_constant(const Model& model, const char* name) {
  const auto value = model.graph.find(name);
  const Tensor* const tensor = value ? model.graph.initializer(*value) : nullptr;
  return tensor != nullptr && tensor->dtype() == DType::kFloat32;
}

}  // namespace

TEST_CASE("weights that both branches of an If read are stored in integers once, and the If stays as it is") {
  const Model model = decoder();
  for (const auto& [platform, least] : {std::pair("weight-only-int8", 38.0), std::pair("weight-only-int4", 14.0),
                                        std::pair("weight-only-blocks", 12.0), std::pair("ort-matmul-nbits", 12.0)}) {
    INFO(platform);
    const Model made = onnx::read(onnx::Source::of(weights_alone(model, platform).bytes));
    for (const char* name : {"table", "w1", "w2"}) REQUIRE_FALSE(is_float_constant(made, name));
    REQUIRE(count(made, "If") == 1);
    const Node& branches = *std::find_if(made.graph.nodes().begin(), made.graph.nodes().end(),
                                         [](const Node& node) { return node.is("If"); });
    const auto& body = *branches.attribute<std::shared_ptr<const Graph>>("then_branch");
    REQUIRE(captures(*body) == std::vector<std::string>{"cache", "ids", "table", "w1", "w2"});
    for (const bool use_cache : {false, true}) {
      const auto exact = run_once(model, use_cache), value = run_once(made, use_cache);
      REQUIRE(value[0].shape() == exact[0].shape());
      for (size_t k = 0; k < exact.size(); ++k) REQUIRE(decibels(exact[k], value[k]) > least);
    }
  }
}

TEST_CASE("a note says how many weights of bodies are stored in integers") {
  const std::vector<std::byte> bytes = onnx::write(decoder());
  const Settings settings{tpc::get_target_platform_capabilities("weight-only-int8"), {}};
  const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings);
  REQUIRE(std::any_of(job->notes.begin(), job->notes.end(), [](const Diagnostic& note) {
    return note.code == "body_weights" && note.message.find("3 weights that the bodies") == 0;
  }));
}

TEST_CASE("a weight that a kernel of the graph reads as well is restored for both") {
  const Model model = decoder(true);
  const Model made = onnx::read(onnx::Source::of(weights_alone(model, "weight-only-int8").bytes));
  REQUIRE_FALSE(is_float_constant(made, "w2"));
  const auto exact = run_once(model, true), value = run_once(made, true);
  for (size_t k = 0; k < exact.size(); ++k) REQUIRE(decibels(exact[k], value[k]) > 38);
}

/// A kernel of the graph, and one in each branch of an If after it.
Model in_branches(bool has_own_kernel) {
  const auto branch = [](const char* weight) {
    NamedModel body;
    return std::make_shared<const Graph>(body.node("MatMul", {"r", weight}, {"m"}).output("m").build().graph);
  };
  NamedModel model;
  model.input("x", {4, 48}).weight("w0", {48, 48}).weight("w1", {48, 64}).weight("w2", {48, 64});
  if (has_own_kernel)
    model.node("MatMul", {"x", "w0"}, {"h"}).node("Relu", {"h"}, {"r"});
  else
    model.node("Relu", {"x"}, {"r"});
  model.constant("zero", Tensor::scalar(0.0f)).constant("first", Tensor::of<int64_t>({1}, {0}));
  model.node("Gather", {"x", "first"}, {"row"}).node("ReduceMean", {"row"}, {"mean"}, {{"keepdims", int64_t{0}}});
  model.node("Greater", {"mean", "zero"}, {"is_above"});
  model.node("If", {"is_above"}, {"y"}, {{"then_branch", branch("w1")}, {"else_branch", branch("w2")}}).output("y");
  return model.build();
}

TEST_CASE("bodies have their weights in integers beside a graph that runs in integers, as the forecast of size says") {
  for (const char* platform : {"ort-cpu", "ort-web"})
    for (const bool has_own_kernel : {true, false}) {
      INFO(platform << " " << has_own_kernel);
      config::QuantizationConfig config = test::plain_config();
      config.prefer = config::Preference::kIntegers;
      const auto job = test::job_of(in_branches(has_own_kernel), platform, config);
      const QuantizeResult made = quantize(*job, test::statistics_of(*job));
      REQUIRE(made.plan.kernels.size() == (has_own_kernel ? 1 : 0));
      for (const char* name : {"w1", "w2"}) REQUIRE_FALSE(is_float_constant(made.model, name));
      REQUIRE(count(made.model, "If") == 1);
      REQUIRE(test::sqnr(*job, made.model) > 30);
      const auto before = static_cast<int64_t>(onnx::write(in_branches(has_own_kernel)).size());
      const auto after = static_cast<double>(made.bytes.size());
      REQUIRE(after < 0.45 * static_cast<double>(before));
      REQUIRE(static_cast<double>(expected_coverage(*job, before).estimated_size_bytes) == Approx(after).epsilon(0.05));
    }
  const auto job = test::job_of(in_branches(true), "openvino", test::plain_config());
  const QuantizeResult made = quantize(*job, test::statistics_of(*job));
  for (const char* name : {"w1", "w2"}) REQUIRE(is_float_constant(made.model, name));  // else restored in each run
}

TEST_CASE("only initializers of the graph that bodies read as weights are found") {
  const auto found = ptq::kernels_in_bodies(decoder());
  REQUIRE(found);
  std::vector<std::string> names;
  for (const ptq::BodyWeight& weight : found->weights) names.push_back(weight.name);
  REQUIRE(names == std::vector<std::string>{"table", "w1", "w2"});
  NamedModel plain;
  plain.input("x", {1, 4}).weight("w", {4, 4}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  REQUIRE_FALSE(ptq::kernels_in_bodies(plain.build()));
}

}  // namespace body_weights_test
