// SPDX-License-Identifier: Apache-2.0
// enable_weights_quantization = false: activations alone are quantized, and no runtime is tempted to quantize weights.
#include "tests/catch.h"

#include "core/export/guard_float_nodes.h"
#include "core/ops/registry.h"
#include "core/report/coverage.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::count;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

/// Conv, Relu, Conv, Flatten, Gemm.
Model small() {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 4, 6, 6})
      .weight("w1", {8, 4, 3, 3})
      .weight("b1", {8})
      .weight("w2", {8, 8, 3, 3})
      .weight("b2", {8});
  model.weight("w3", {288, 5}).weight("b3", {5});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}}).node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2", "b2"}, {"c2"}, {{"pads", pads}}).node("Flatten", {"c2"}, {"f"});
  return model.node("Gemm", {"f", "w3", "b3"}, {"y"}).output("y").build();
}

config::QuantizationConfig without_weights() {
  config::QuantizationConfig config = test::plain_config();
  config.enable_weights_quantization = false;
  return config;
}

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;

  Made(const char* platform, const config::QuantizationConfig& config)
      : job(test::job_of(small(), platform, config)), result(quantize(*job, test::statistics_of(*job))) {}
};

}  // namespace

TEST_CASE("without quantized weights the activations have the quantizers they would have with them") {
  for (const char* platform : {"ort-cpu", "imx500"}) {
    INFO(platform);
    const Made both(platform, test::plain_config()), alone(platform, without_weights());
    REQUIRE(alone.result.plan.kernels.empty());
    REQUIRE_FALSE(alone.result.plan.activations.empty());
    REQUIRE(alone.result.plan.activations.size() == both.result.plan.activations.size());
    for (size_t k = 0; k < alone.result.plan.activations.size(); ++k)
      REQUIRE(alone.result.plan.activations[k].params == both.result.plan.activations[k].params);
    REQUIRE(count(alone.result.model, "QuantizeLinear") == count(both.result.model, "QuantizeLinear"));
    for (const char* name : {"w1", "w2", "w3"}) {
      const auto kept = alone.result.model.graph.find(name);
      REQUIRE((kept && alone.result.model.graph.initializer(*kept)->dtype() == DType::kFloat32));
    }
    const double with_weights = test::sqnr_of(small(), platform, test::plain_config());
    REQUIRE(test::sqnr_of(small(), platform, without_weights()) > with_weights - 1.5);
  }
}

TEST_CASE("a Sum of one operand keeps runtimes from quantizing a float weight, and changes no value") {
  for (const char* platform : {"ort-cpu", "imx500"}) {
    INFO(platform);
    const Made alone(platform, without_weights());
    const Model& made = alone.result.model;
    REQUIRE(count(made, "Sum") == (std::string(platform) == "ort-cpu" ? 2 : 3));
    Model bare = made;
    Graph& graph = bare.graph;
    for (Node& node : graph.nodes())
      if (node.is("Sum")) node.op_type = "Identity";
    run::Runner as_written(run::Program::compile(bare, ops::standard())),
        simulated(simulate::compile(made, simulate::Profile::kX64));
    const auto inputs = test::sample(*alone.job, 77);
    const Tensor a = as_written.run(inputs)[0], b = simulated.run(inputs)[0];
    REQUIRE(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin()));
  }
}

TEST_CASE("the report says that such layers compute in float") {
  const Made alone("ort-cpu", without_weights());
  const report::Coverage coverage = report::coverage_of(alone.job->opened->model.graph, alone.job->model.graph,
                                                        alone.result.draft.placement, alone.result.plan.outcomes);
  REQUIRE(coverage.core_nodes == 3);
  REQUIRE(coverage.integer_core_nodes == 0);
  REQUIRE(coverage.stays_float.size() >= 3);
  REQUIRE(coverage.stays_float[0].reason.find("Its weight stays float") == 0);
}

TEST_CASE("where nothing is left to quantize the settings are refused with a sentence") {
  for (const char* platform : {"weight-only-int8", "ort-cpu"}) {
    config::QuantizationConfig config = without_weights();
    if (std::string(platform) == "ort-cpu") config.enable_activation_quantization = false;
    try {
      test::job_of(small(), platform, config);
      FAIL("accepted on " << platform);
    } catch (const Error& error) {
      REQUIRE(error.code == ErrorCode::kUnsupportedModel);
      REQUIRE(error.message.find("Nothing in this model can be quantized. This is the first operator") == 0);
    }
  }
}

TEST_CASE("where all the work lies in the branches of an If, the message says so") {
  NamedModel model;
  model.input("x", {1, 4}).weight("w", {4, 4}).constant("zero", Tensor::scalar(0.0f));
  NamedModel branch;
  branch.node("MatMul", {"x", "w"}, {"m"}).output("m");
  const auto body = std::make_shared<const Graph>(branch.build().graph);
  model.node("ReduceMax", {"x"}, {"most"}, {{"keepdims", int64_t{0}}}).node("Greater", {"most", "zero"}, {"is_above"});
  model.node("If", {"is_above"}, {"y"}, {{"then_branch", body}, {"else_branch", body}}).output("y");
  try {
    test::job_of(model.build(), "ort-cpu", without_weights());
    FAIL("accepted");
  } catch (const Error& error) {
    INFO(error.what());
    REQUIRE(error.code == ErrorCode::kUnsupportedModel);
    REQUIRE(error.message.find("lie in the bodies of If, Loop or Scan") != std::string::npos);
    REQUIRE(error.message.find("The first holds 2.") != std::string::npos);
    REQUIRE(error.place.find("y_node") != std::string::npos);
  }
}

TEST_CASE("single nodes with float weights are guarded on platforms that quantize every output") {
  Settings settings{tpc::get_target_platform_capabilities("imx500"), test::plain_config()};
  for (const char* name : {"c1_node", "c2_node"}) {
    config::Override one;
    one.name = name;
    one.config = R"({"enable_weights_quantization": false})";
    settings.overrides.push_back(one);
    const std::vector<std::byte> bytes = onnx::write(small());
    const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings);
    const QuantizeResult result = quantize(*job, test::statistics_of(*job));
    REQUIRE(count(result.model, "Sum") == static_cast<int>(settings.overrides.size()));
    simulate::compile(result.model, simulate::Profile::kX64);
  }
}

TEST_CASE("only what stands between two quantizers is guarded") {
  NamedModel model;
  model.constant("s", Tensor::scalar(0.1f)).constant("z", Tensor::of<uint8_t>(Shape{}, {128})).input("x", {1, 4, 6, 6});
  model.weight("w1", {4, 4, 1, 1}).weight("w2", {4, 4, 1, 1}).weight("w3", {4, 4, 1, 1});
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).node("DequantizeLinear", {"q", "s", "z"}, {"d"});
  model.node("Conv", {"d", "w1"}, {"a"}).node("Relu", {"a"}, {"r"}).node("QuantizeLinear", {"r", "s", "z"}, {"aq"});
  model.node("DequantizeLinear", {"aq", "s", "z"}, {"ad"}).node("Conv", {"ad", "w2"}, {"b"}).output("b");
  model.node("Conv", {"x", "w3"}, {"c"}).node("QuantizeLinear", {"c", "s", "z"}, {"cq"});
  model.node("DequantizeLinear", {"cq", "s", "z"}, {"y"}).output("y");
  Model built = model.build();
  REQUIRE(ptq::guard_float_nodes(built, {}) == 1);
  REQUIRE(count(built, "Sum") == 1);
  REQUIRE(ptq::guard_float_nodes(built, {}) == 0);
}

TEST_CASE("an AveragePool with dilations stays float, hidden from a runtime that would refuse it as integers") {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 4, 1, 1}).weight("v", {4, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("AveragePool", {"c"}, {"p"},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"dilations", std::vector<int64_t>{2, 2}}});
  model.node("Conv", {"p", "v"}, {"y"}).output("y");
  Model built = model.build();
  built.opset_imports[0].version = 19;
  const auto job = test::job_of(built, "ort-cpu", test::plain_config());
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  REQUIRE(count(result.model, "Sum") == 1);
  for (const ptq::NodeOutcome& outcome : result.plan.outcomes)
    if (result.draft.model.graph.find(outcome.node)->is("AveragePool"))
      REQUIRE(outcome.reason.find("dilations") != std::string::npos);
}
