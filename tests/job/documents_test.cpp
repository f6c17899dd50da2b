// SPDX-License-Identifier: Apache-2.0
// The code blocks of the requirement documents, as near to word for word as C++ and ONNX allow, each to a file.
// tests/python/requirements_test.py and tests/wasm/documents.test.mjs are the same in Python and JavaScript;
// docs/requirements.md has the blocks beside each other.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/framework_info.h"
#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/my_dense_quantize_config.h"
#include "tests/support/named_model.h"

using namespace tersor;
using namespace tersor::framework;
using config::QuantizationConfig;
using quant::QuantizationMethod;
using quant::ThresholdSelectionMethod;

namespace {

/// A Conv, a Relu, a Reshape, a Dense (Gemm) with its Relu, and a Softmax.
test::NamedModel classifier() {
  test::NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("b1", {8}).weight("w2", {288, 6}).weight("b2", {6});
  model.node("Conv", {"x", "w1", "b1"}, {"conv"}).node("Relu", {"conv"}, {"relu"});
  model.node("Flatten", {"relu"}, {"flat"})
      .node("Gemm", {"flat", "w2", "b2"}, {"dense"})
      .node("Relu", {"dense"}, {"r"});
  return model.node("Softmax", {"r"}, {"y"}, {{"axis", int64_t{-1}}}).output("y");
}

/// The platform "any" has no kernels of its own that could say what stays float.
Settings documented(QuantizationConfig config = config::requirement_defaults()) {
  Settings settings{tpc::get_target_platform_capabilities("any"), {}};
  settings.config = std::move(config);
  return settings;
}

QuantizeResult quantized(Settings settings) {
  const std::vector<std::byte> bytes = onnx::write(classifier().build());
  const auto job =
      prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), std::move(settings));
  calibrate::Calibrator calibrator = calibrator_of(*job, 8);
  for (uint64_t k = 0; k < 8; ++k) {
    const std::vector<Tensor> inputs = test::random_inputs(job->model, static_cast<uint32_t>(k + 1));
    calibrator.add({k, samples::sample_digest(inputs)}, "sample", inputs);
  }
  return quantize(*job, calibrator.statistics());
}

QuantizeResult quantized(const FrameworkInfo& info) {
  Settings settings = documented();
  settings.framework_info = to_text(to_json(info), false);
  return quantized(std::move(settings));
}

bool quantizes_kernel(const QuantizeResult& result, const char* node) {
  return std::any_of(result.plan.kernels.begin(), result.plan.kernels.end(), [&](const ptq::KernelPlan& one) {
    const Node* found = result.draft.model.graph.find(one.node);
    return found != nullptr && found->name == node;
  });
}

}  // namespace

TEST_CASE("quantization_config's example makes a file by the short line") {
  QuantizationConfig qc = config::requirement_defaults();
  qc.activation_n_bits = 6;
  qc.weights_n_bits = 7;
  qc.activation_quantization_method = QuantizationMethod::kPowerOfTwo;  // SYMMETRIC_UNIFORM
  qc.weights_quantization_method = QuantizationMethod::kPowerOfTwo;
  qc.weights_threshold_method = ThresholdSelectionMethod::kMse;
  qc.activation_threshold_method = ThresholdSelectionMethod::kNoClipping;
  qc.relu_unbound_correction = true;
  qc.weights_bias_correction = true;
  qc.weights_per_channel_threshold = true;
  const QuantizeResult made = quantized(documented(qc));
  REQUIRE(made.plan.activations[0].params.grid.n_bits == 6);
  REQUIRE(made.recipe.quantization_config.weights_n_bits == 7);
  // What would be measured on the samples once more is left out, and the recipe says so.
  REQUIRE(made.recipe.quantization_config.weights_bias_correction_method == config::BiasCorrectionMethod::kAnalytic);
  Settings again = documented(made.recipe.quantization_config);
  REQUIRE(quantized(std::move(again)).bytes == made.bytes);
}

TEST_CASE("framework_info's examples choose what is quantized") {
  FrameworkInfo info = onnx_framework_info();
  info.kernel_ops = {"Conv"};
  info.kernel_channels_mapping = {{"Conv", {0, 1}}};  // (3, 2) of Keras' kernels
  info.activation_ops = info.no_quantization_ops = {};
  info.activation_min_max_mapping = {}, info.layer_min_max_mapping = {};
  const QuantizeResult kernels = quantized(info);
  REQUIRE(quantizes_kernel(kernels, "conv_node"));
  REQUIRE_FALSE(quantizes_kernel(kernels, "dense_node"));
  info.activation_ops = {"Relu"};
  const QuantizeResult relus = quantized(info);
  REQUIRE(relus.plan.activations.size() > kernels.plan.activations.size());
  info.no_quantization_ops = {"Reshape", "Flatten"};
  REQUIRE(quantized(info).plan.activations.size() == relus.plan.activations.size() - 1);
  info.activation_ops.push_back("Softmax");
  const auto softmax_range = [&] {
    const QuantizeResult made = quantized(info);
    for (const ptq::ActivationPlan& one : made.plan.activations)
      if (made.draft.model.graph.name_of(one.tensor.value) == "y") return one.params.range[0].high;
    FAIL("the Softmax is not quantized");
    return 0.0;
  };
  const double searched = softmax_range();
  info.activation_min_max_mapping = {{"softmax", {0.0, 1.0}}};
  const double by_function = softmax_range();
  info.activation_min_max_mapping = {};
  info.layer_min_max_mapping = {{"Softmax", {0.0, 1.0}}};
  REQUIRE(softmax_range() == by_function);
  REQUIRE(by_function >= searched);
  REQUIRE(by_function > 0.99);
}

TEST_CASE("quantize_config's example quantizes kernel and activation of a layer, and not its output") {
  const auto with = [](const std::string& quantize_config) {
    Settings settings{tpc::get_target_platform_capabilities("qnnpack"), {}};
    auto scope = std::make_shared<QuantizeScope>();
    scope->add("MyDenseQuantizeConfig", [](auto&&...) { return std::make_shared<MyDenseQuantizeConfig>(); });
    settings.quantize_scope = scope;
    config::Override dense;
    dense.name = "dense_node";
    dense.quantize_config = quantize_config;
    settings.overrides = {dense};
    return quantized(std::move(settings));
  };
  const QuantizeResult made = with(R"({"class_name": "MyDenseQuantizeConfig"})");
  const QuantizeResult same = with(R"({"class_name": "LayerQuantizeConfig", "config": {
      "weights": {"kernel": "LastValueQuantizer"}, "activation": "MovingAverageQuantizer", "outputs": []}})");
  REQUIRE(made.plan.activations.size() == same.plan.activations.size());
  for (size_t k = 0; k < made.plan.activations.size(); ++k)
    REQUIRE(made.plan.activations[k].params == same.plan.activations[k].params);
  REQUIRE(made.plan.kernels.size() == same.plan.kernels.size());
  REQUIRE(quantizes_kernel(made, "dense_node"));
  REQUIRE(quantized(Settings{tpc::get_target_platform_capabilities("qnnpack"), {}}).bytes != made.bytes);
}
