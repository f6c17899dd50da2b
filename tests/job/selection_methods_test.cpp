// SPDX-License-Identifier: Apache-2.0
// Each method that chooses ranges, through the whole line.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using tersor::test::NamedModel;

namespace {

Model two_convs() {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("w2", {4, 8, 3, 3});
  model.node("Conv", {"x", "w1"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Conv", {"r", "w2"}, {"y"});
  return model.output("y").build();
}

QuantizeResult quantized(const Model& model, Settings settings, float magnitude = 1) {
  const auto opened = std::make_shared<const OpenedModel>(open_model(onnx::Source::of(onnx::write(model))));
  const auto job = prepare(opened, std::move(settings));
  // Every other sample elsewhere, and through a file.
  std::array calibrators{calibrator_of(*job, 16), calibrator_of(*job, 16)};
  for (uint64_t k = 0; k < 16; ++k) {
    std::vector<Tensor> inputs = test::random_inputs(job->model, static_cast<uint32_t>(k + 1));
    for (float& x : inputs[0].mutable_data<float>()) x *= magnitude;
    calibrators[k % 2].add({k, samples::sample_digest(inputs)}, "sample", inputs);
  }
  calibrate::Statistics statistics = calibrators[1].statistics();
  calibrate::merge(statistics, calibrators[0].statistics());
  return quantize(*job, calibrate::read(calibrate::write(statistics)));
}

QuantizeResult quantized(const Model& model, const config::QuantizationConfig& config, float magnitude = 1) {
  return quantized(model, Settings{tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config}, magnitude);
}

}  // namespace

TEST_CASE("every selection method that acts makes a file that computes nearly the same") {
  const Model model = two_convs();
  for (const auto activations : quant::activation_selection_methods())
    for (const auto weights : quant::weight_selection_methods()) {
      if (activations != quant::ThresholdSelectionMethod::kMse && weights != quant::ThresholdSelectionMethod::kMse)
        continue;
      config::QuantizationConfig config;
      config.activation_threshold_method = activations;
      config.weights_threshold_method = weights;
      config.z_threshold = 12;
      config.weights_bias_correction = false;
      const QuantizeResult result = quantized(model, config);
      INFO(enum_word(activations) << " and " << enum_word(weights));
      REQUIRE(result.plan.kernels.size() == 2);
      REQUIRE(test::relative_difference(model, result.model, test::random_inputs(model, 99)) < 0.2);
    }
}

TEST_CASE("kernels of an operator without a channel axis have one scale") {
  config::QuantizationConfig config;
  config.weights_bias_correction = false;
  Settings settings{tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config};
  settings.framework_info = R"({"kernel_channels_mapping": {"Conv": [null, 1]}})";
  for (const ptq::KernelPlan& kernel : quantized(two_convs(), settings).plan.kernels)
    REQUIRE(kernel.weight.scale.size() == 1);
  for (const ptq::KernelPlan& kernel : quantized(two_convs(), config).plan.kernels)
    REQUIRE(kernel.weight.scale.size() > 1);
}

TEST_CASE("a product may read what convolutions made, turned into tokens") {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("w2", {8, 5});
  model.node("Conv", {"x", "w1"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.constant("shape", Tensor::of<int64_t>(Shape{3}, {1, 8, 36})).node("Reshape", {"r", "shape"}, {"flat"});
  model.node("Transpose", {"flat"}, {"tokens"}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const Model tokens = model.node("MatMul", {"tokens", "w2"}, {"y"}).output("y").build();
  config::QuantizationConfig config;
  config.weights_bias_correction = false;
  const QuantizeResult result = quantized(tokens, config);
  REQUIRE(result.plan.kernels.size() == 2);
  REQUIRE(test::relative_difference(tokens, result.model, test::random_inputs(tokens, 99)) < 0.2);
}

TEST_CASE("an input that is 0 in every sample leaves small biases their digits") {
  NamedModel model;
  model.input("x", {1, 16}).weight("w", {16, 4}).weight("b", {4}, -0.01f, 0.01f);
  const Model product = model.node("Gemm", {"x", "w", "b"}, {"y"}).output("y").build();
  config::QuantizationConfig config;
  config.weights_bias_correction = false;
  const QuantizeResult result = quantized(product, config, 0);
  REQUIRE(result.plan.activations[0].params.range[0].low == Approx(-1).epsilon(0.01));
  std::vector<Tensor> zeros = test::random_inputs(product, 1);
  for (float& x : zeros[0].mutable_data<float>()) x = 0;
  REQUIRE(test::relative_difference(product, result.model, zeros) < 0.03);
}

TEST_CASE("an input that is empty in every sample is no obstacle") {
  NamedModel model;
  model.input("x", {1, 3, 8}).input("past", {1, 0, 8}).weight("w", {8, 8}).weight("v", {8, 8});
  model.node("MatMul", {"x", "w"}, {"k"}).node("MatMul", {"past", "v"}, {"p"});
  const Model cached = model.node("Concat", {"p", "k"}, {"y"}, {{"axis", int64_t{1}}}).output("y").build();
  config::QuantizationConfig config;
  config.weights_bias_correction = false;
  const QuantizeResult result = quantized(cached, config);
  REQUIRE(result.plan.kernels.size() == 2);
  REQUIRE(test::relative_difference(cached, result.model, test::random_inputs(cached, 99)) < 0.2);
}

TEST_CASE("activations near the least float32 leave the weights their values") {
  for (const auto method : quant::activation_selection_methods()) {
    config::QuantizationConfig config;
    config.activation_threshold_method = method;
    config.weights_bias_correction = false;
    const QuantizeResult result = quantized(two_convs(), config, 1e-30f);
    INFO(enum_word(method));
    for (const ptq::KernelPlan& kernel : result.plan.kernels)
      REQUIRE(*std::max_element(kernel.weight.scale.begin(), kernel.weight.scale.end()) < 0.1f);
  }
}

TEST_CASE("a moving average is the mean of the extremes of the samples, as a method and as a quantizer") {
  const Model model = two_convs();
  double low = 0, high = 0;
  for (uint64_t k = 0; k < 16; ++k) {
    const Tensor x = test::random_inputs(model, static_cast<uint32_t>(k + 1))[0];
    const auto [least, most] = std::minmax_element(x.data<float>().begin(), x.data<float>().end());
    low += static_cast<double>(*least) / 16, high += static_cast<double>(*most) / 16;
  }
  const auto range_of_input = [](const QuantizeResult& result) {
    for (const ptq::ActivationPlan& one : result.plan.activations)
      if (result.draft.model.graph.name_of(one.tensor.value) == "x") return one.params.range[0];
    FAIL("no range of x");
    return quant::Range{};
  };
  config::QuantizationConfig config;
  config.weights_bias_correction = false;
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kMovingAverage;
  const quant::Range by_method = range_of_input(quantized(model, config));
  REQUIRE(by_method.low == Approx(low));
  REQUIRE(by_method.high == Approx(high));
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
  const quant::Range covering = range_of_input(quantized(model, config));
  REQUIRE(covering.low < low);
  REQUIRE(covering.high > high);
}

TEST_CASE("quantizers of a QuantizeConfig that differ by how a range follows the samples") {
  const Model model = two_convs();
  const auto relu_range = [&](const std::string& quantizer) {
    Settings settings{tpc::get_target_platform_capabilities("qnnpack"), {}};
    settings.config.weights_bias_correction = false;
    settings.overrides = config::parse_overrides(
        R"([{"name": "c_node", "quantize_config": {"class_name": "LayerQuantizeConfig", "config": {
        "weights": {"kernel": "LastValueQuantizer"}, "activation": )" +
            quantizer + R"(}}}])",
        "overrides");
    const QuantizeResult result = quantized(model, std::move(settings));
    for (const ptq::ActivationPlan& one : result.plan.activations)
      if (result.draft.model.graph.name_of(one.tensor.value) == "r") return std::pair(one.params.range[0], one.seen);
    FAIL("no range of r");
    return std::pair(quant::Range{}, quant::Range{});
  };
  const auto [all, seen] = relu_range(R"("AllValuesQuantizer")");
  REQUIRE(all.high == Approx(seen.high));
  const auto [mean, same] = relu_range(R"("MovingAverageQuantizer")");
  REQUIRE(mean.high < 0.99 * same.high);
  REQUIRE(mean.high > 0.5 * same.high);

  const auto by_batches = [&](const std::string& name, int size) {
    return relu_range(R"({"class_name": ")" + name + R"(", "config": {"batch_size": )" + std::to_string(size) + "}}")
        .first;
  };
  REQUIRE(by_batches("LastValueQuantizer", 16).high == Approx(seen.high));
  REQUIRE(by_batches("LastValueQuantizer", 1) == by_batches("LastValueQuantizer", 15));
  REQUIRE(by_batches("LastValueQuantizer", 1).high < seen.high);
  const quant::Range average = by_batches("MovingAverageQuantizer", 16);
  REQUIRE(average.low == Approx(-6 * 0.999).epsilon(0.01));
  REQUIRE(average.high == Approx(6 * 0.999 + 0.001 * seen.high).epsilon(0.01));
  REQUIRE(by_batches("MovingAverageQuantizer", 1).low == Approx(-6 * std::pow(0.999, 16)).epsilon(0.01));
  REQUIRE_THROWS_WITH(by_batches("LastValueQuantizer", 0), Catch::Contains("1 or more"));
}
