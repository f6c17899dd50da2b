// SPDX-License-Identifier: Apache-2.0
#include "core/correct/shift_negative_activations.h"

#include <algorithm>

#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/named_model.h"
#include "tests/support/shared.h"

using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

config::QuantizationConfig shifting(bool recalculates = true) {
  config::QuantizationConfig config = test::plain_config();
  config.shift_negative_activation_correction = true;
  config.shift_negative_threshold_recalculation = recalculates;
  return config;
}

/// Convolutions around an activation, the second with zero padding.
Model around(const char* activation, bool pools = false) {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("b1", {8}, 0.0f, 2.0f).weight("w2", {5, 8, 3, 3});
  model.node("Conv", {"x", "w1", "b1"}, {"c"});
  if (std::string(activation) == "Swish")
    model.node("Sigmoid", {"c"}, {"s"}).node("Mul", {"c", "s"}, {"a"});
  else
    model.node(activation, {"c"}, {"a"});
  if (pools) model.node("AveragePool", {"a"}, {"p"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  model.node("Conv", {pools ? "p" : "a", "w2"}, {"y"}, {{"pads", Ints{1, 0, 2, 1}}}).output("y");
  return model.build();
}

double gain(const Model& model, const char* platform, const config::QuantizationConfig& config) {
  return test::sqnr_of(model, platform, config) - test::sqnr_of(model, platform, test::plain_config());
}

}  // namespace

TEST_CASE("an activation with a small negative side is shifted and the float model stays what it is") {
  for (const char* activation : {"HardSwish", "LeakyRelu", "Elu", "Swish"})
    for (const bool pools : {false, true}) {
      INFO(activation << (pools ? ", pool" : ""));
      config::QuantizationConfig config = shifting();
      config.shift_negative_ratio = 0.6;
      const auto job = test::job_of(around(activation, pools), "imx500", config);
      const Draft decided = draft(*job, test::statistics_of(*job));
      REQUIRE(decided.rewrites.at(0).places == 1);
      REQUIRE(decided.rewrites[0].inserted.size() == 1);
      for (uint64_t k = 0; k < 3; ++k)
        REQUIRE(test::relative_difference(job->model, decided.model, test::sample(*job, k)) < 1e-5);
      // What is quantized is the shifted tensor, without a sign; the activation itself is not.
      const auto find = [&](const char* name) { return decided.plan.find(*decided.model.graph.find(name)); };
      REQUIRE(find("a") == nullptr);
      REQUIRE(find("a_shifted") != nullptr);
      REQUIRE(find("a_shifted")->params.zero_point[0] == 0);
      REQUIRE_FALSE(find("a_shifted")->params.grid.is_signed);
      REQUIRE(decided.plan.find(decided.rewrites[0].inserted[0]) == nullptr);
    }
}

TEST_CASE("a shift gains where the activation is most of the error") {
  REQUIRE(gain(around("HardSwish"), "imx500", shifting()) > 1);
  config::QuantizationConfig symmetric = shifting(), plain = test::plain_config();
  symmetric.activation_quantization_method = plain.activation_quantization_method =
      quant::QuantizationMethod::kSymmetric;
  REQUIRE(test::sqnr_of(around("HardSwish"), "ort-cpu", symmetric) >
          test::sqnr_of(around("HardSwish"), "ort-cpu", plain) + 1);
}

TEST_CASE("shift and threshold found together lose no more than each by itself") {
  const Model model = around("HardSwish");
  config::QuantizationConfig searching = shifting(false);
  searching.shift_negative_params_search = true;
  searching.shift_negative_ratio = 0.6;
  const auto job = test::job_of(model, "imx500", searching);
  const Draft decided = draft(*job, test::statistics_of(*job));
  REQUIRE(test::places(decided, test::kShiftNegative) == 1);
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(job->model, decided.model, test::sample(*job, k)) < 1e-5);
  config::QuantizationConfig kept = shifting(false);
  kept.shift_negative_ratio = 0.6;
  REQUIRE(test::sqnr_of(model, "imx500", searching) > test::sqnr_of(model, "imx500", kept) - 0.2);
  REQUIRE(gain(model, "imx500", searching) > 1);
}

TEST_CASE("no shift for zero points, for a large negative side, or for two readers") {
  const auto places = [](const Model& model, const char* platform, const config::QuantizationConfig& config) {
    const auto job = test::job_of(model, platform, config);
    const Draft decided = draft(*job, test::statistics_of(*job));
    REQUIRE(decided.rewrites.size() == 1);
    REQUIRE(decided.rewrites[0].places == 0);
    REQUIRE(decided.model.graph.nodes().size() == job->model.graph.nodes().size());
    return decided.rewrites[0];
  };
  const ptq::Rewrite uniform = places(around("HardSwish"), "ort-cpu", shifting());
  REQUIRE(uniform.places == 0);
  REQUIRE_THAT(uniform.what, Catch::Matchers::Contains("UNIFORM"));
  config::QuantizationConfig strict = shifting();
  strict.shift_negative_ratio = 0.001;
  REQUIRE(places(around("HardSwish"), "imx500", strict).places == 0);

  NamedModel two;
  two.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("w2", {5, 8, 1, 1}).weight("w3", {5, 8, 1, 1});
  two.node("Conv", {"x", "w1"}, {"c"}).node("HardSwish", {"c"}, {"a"}).node("Conv", {"a", "w2"}, {"l"});
  two.node("Conv", {"a", "w3"}, {"r"}).node("Add", {"l", "r"}, {"y"}).output("y");
  REQUIRE(places(two.build(), "imx500", shifting()).places == 0);
}

TEST_CASE("a zoo model of Swishes computes what it did, shifted") {
  const auto path = test::shared_file("zoo/yolox-nano-416/model.onnx");
  if (!path) return;
  const OpenedModel opened = open_model(onnx::Source::of(test::read_file(*path)));
  const auto job = test::job_of(opened.model, "imx500", shifting());
  const Draft decided = draft(*job, test::statistics_of(*job, 1));
  REQUIRE(test::places(decided, test::kShiftNegative) > 10);
  // This network magnifies the last digit of a float: its biases moved by 3e-7 are the measure, where 1e-5 is less.
  Model nudged = job->model;
  for (const Node& node : job->model.graph.nodes()) {
    const auto op = passes::kernel_op(job->model.graph, node);
    if (!op || !op->bias.valid()) continue;
    std::vector<double> bias = *passes::bias_values(job->model.graph, *op);
    for (size_t k = 0; k < bias.size(); ++k) bias[k] += k % 2 == 0 ? 3e-7 : -3e-7;
    nudged.graph.set_initializer(op->bias, passes::from_doubles(bias, Shape{op->outputs}));
  }
  const std::vector<Tensor> inputs = test::sample(*job, 7);
  const double by_rounding = test::relative_difference(job->model, nudged, inputs);
  REQUIRE(test::relative_difference(job->model, decided.model, inputs) < std::max(1e-5, by_rounding));
}
