// SPDX-License-Identifier: Apache-2.0
#include "core/export/guard_kernels.h"

#include <algorithm>

#include "core/decide/outcomes.h"
#include "core/report/report_of.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::count;
using test::NamedModel;

namespace {

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;

  explicit Made(NamedModel& model) : job(test::job_of(model.build(), "ort-cpu", test::plain_config())) {
    result = quantize(*job, test::statistics_of(*job));
  }
  /// Every core operator is an integer kernel, for the report and the simulation.
  void require_integer(size_t kernels) const {
    const report::Coverage coverage = report_of(*job, result, "m.onnx", 1000).coverage;
    REQUIRE(coverage.core_nodes == static_cast<int64_t>(kernels));
    REQUIRE(coverage.integer_core_nodes == coverage.core_nodes);
    REQUIRE(simulate::fuse(result.model, simulate::Profile::kX64).integer_nodes.size() == kernels);
  }
};

}  // namespace

TEST_CASE("the bias after a product of three axes gets a second axis, so that no runtime joins the two") {
  NamedModel model;
  model.input("x", {1, 5, 8}).weight("w", {8, 6}).weight("b", {6}).weight("v", {6, 4}).weight("c", {4});
  model.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "b"}, {"a"}).node("Relu", {"a"}, {"r"});
  model.node("MatMul", {"r", "v"}, {"n"}).node("Add", {"c", "n"}, {"y"}).output("y");
  const Made made(model);
  made.require_integer(2);
  const Graph& graph = made.result.model.graph;
  REQUIRE(graph.initializer(*graph.find("b"))->shape() == Shape{1, 6});
  REQUIRE(graph.initializer(*graph.find("c"))->shape() == Shape{1, 4});
  run::Runner runner(simulate::compile(made.result.model, simulate::Profile::kX64));
  REQUIRE(runner.run(test::sample(*made.job, 5))[0].shape() == Shape{1, 5, 4});
}

TEST_CASE("a product of two axes becomes a Gemm where something is added that is no bias") {
  NamedModel model;
  model.input("x", {3, 8}).weight("w", {8, 8});
  model.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "x"}, {"y"}).output("y");
  const Made made(model);
  made.require_integer(1);
  REQUIRE(count(made.result.model, "Gemm") == 1);
  REQUIRE(count(made.result.model, "Add") == 1);
}

TEST_CASE("a Relu or Clip between an integer Gemm and a float reader is written as Max and Min") {
  NamedModel model;
  model.constant("low", Tensor::scalar(-0.25f)).constant("high", Tensor::scalar(0.5f));
  model.input("x", {2, 8}).weight("w", {8, 6}).weight("b", {6}).weight("v", {6, 4}).weight("c", {4});
  model.node("Gemm", {"x", "w", "b"}, {"g"}).node("Relu", {"g"}, {"r"}).node("Softmax", {"r"}, {"s"});
  model.node("Gemm", {"s", "v", "c"}, {"h"}).node("Clip", {"h", "low", "high"}, {"k"}).node("Exp", {"k"}, {"y"});
  model.output("y");
  const Made made(model);
  made.require_integer(2);
  REQUIRE(count(made.result.model, "Relu") + count(made.result.model, "Clip") == 0);
  REQUIRE(count(made.result.model, "Max") == 2);
  REQUIRE(count(made.result.model, "Min") == 1);
  run::Runner runner(simulate::compile(made.result.model, simulate::Profile::kX64));
  const Tensor y = runner.run(test::sample(*made.job, 5))[0];
  for (const float x : y.data<float>()) {
    REQUIRE(x >= std::exp(-0.25f) * 0.9999f);
    REQUIRE(x <= std::exp(0.5f) * 1.0001f);
  }
}

TEST_CASE("where the clamp's result is an output of the model or read twice, it stays as it is") {
  NamedModel model;
  model.input("x", {2, 8}).weight("w", {8, 6}).weight("v", {8, 6});
  model.node("Gemm", {"x", "w"}, {"g"}).node("Relu", {"g"}, {"y"}).output("y");
  model.node("Gemm", {"x", "v"}, {"h"}).node("Relu", {"h"}, {"r"});
  model.node("Exp", {"r"}, {"e"}).node("Tanh", {"r"}, {"t"}).output("e").output("t");
  const Made made(model);
  made.require_integer(2);
  REQUIRE(count(made.result.model, "Relu") == 2);
}

TEST_CASE("a Clip folds into a quantizer whose range ends half a step beyond it") {
  NamedModel model;
  model.constant("low", Tensor::scalar(-0.25f)).constant("high", Tensor::scalar(0.25f));
  model.input("x", {1, 4, 6, 6}).weight("w", {4, 4, 3, 3}).weight("v", {4, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"}).node("Clip", {"c", "low", "high"}, {"k"}).node("Conv", {"k", "v"}, {"y"});
  model.output("y");
  const Made made(model);
  made.require_integer(2);
  REQUIRE(count(made.result.model, "Clip") == 0);
  const auto* clipped = made.result.plan.find(*made.job->model.graph.find("k"));
  REQUIRE((clipped->params.representable().high > 0.25) != (clipped->params.representable().low < -0.25));
}

TEST_CASE("what a model shows before calibration agrees with its report where ranges decide nothing") {
  NamedModel model;
  model.input("x", {1, 4, 6, 6}).weight("w", {4, 4, 1, 1}).weight("v", {4, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"}).node("Conv", {"x", "v"}, {"d"}).node("Add", {"c", "d"}, {"a"});
  model.node("Relu", {"a"}, {"r"}).node("GlobalAveragePool", {"r"}, {"p"}).node("Conv", {"p", "w"}, {"y"}).output("y");
  const Made made(model);
  const report::Coverage before = expected_coverage(*made.job, 1000),
                         after = report_of(*made.job, made.result, "m.onnx", 1000).coverage;
  REQUIRE(before.rows.size() == after.rows.size());
  for (size_t k = 0; k < before.rows.size(); ++k) {
    INFO(before.rows[k].op);
    REQUIRE(before.rows[k].support == after.rows[k].support);
    REQUIRE(before.rows[k].support != report::Support::kFloat);
  }
}

TEST_CASE("clamps that no quantizer of the platform can take in are told before calibration, as after it") {
  for (const char* platform : {"tensorrt", "imx500", "ort-cpu", "tflite"})
    for (const float bound : {0.0f, 6.0f, 4.0f}) {  // 0: a Relu
      INFO(platform << ", " << bound);
      NamedModel model;
      model.input("x", {1, 4, 6, 6})
          .weight("w", {4, 4, 1, 1}, -8, 8)
          .weight("v", {4, 4, 1, 1})
          .constant("low", Tensor::scalar(0.0f));
      model.constant("high", Tensor::scalar(bound)).node("Conv", {"x", "w"}, {"c"});
      if (bound == 0)
        model.node("Relu", {"c"}, {"r"});
      else
        model.node("Clip", {"c", "low", "high"}, {"r"});
      model.node("Conv", {"r", "v"}, {"y"}).output("y");
      const auto job = test::job_of(model.build(), platform, test::plain_config());
      const QuantizeResult result = quantize(*job, test::statistics_of(*job));
      const report::Coverage before = expected_coverage(*job, 1000),
                             after = report_of(*job, result, "m.onnx", 1000).coverage;
      REQUIRE(before.integer_core_nodes == after.integer_core_nodes);
      REQUIRE(before.stays_float.size() == after.stays_float.size());
    }
}

TEST_CASE("the report names the settings that are not the default") {
  NamedModel model;
  model.input("x", {1, 4, 6, 6}).weight("w", {4, 4, 1, 1}).node("Conv", {"x", "w"}, {"y"}).output("y");
  config::QuantizationConfig config;
  REQUIRE(report::changed_settings(config).empty());
  config.weights_bias_correction = false;
  config.z_threshold = 5;
  const auto job = test::job_of(model.build(), "ort-cpu", config);
  const auto settings = report_of(*job, quantize(*job, test::statistics_of(*job)), "", 0).settings;
  REQUIRE(settings.size() == 2);
  const auto bias = std::find_if(settings.begin(), settings.end(),
                                 [](const auto& one) { return one.field == "weights_bias_correction"; });
  REQUIRE(bias != settings.end());
  REQUIRE(bias->value == "false");
  REQUIRE(bias->by_default == "true");
}
