// SPDX-License-Identifier: Apache-2.0
// The line on real models: the passes keep what they compute, and every core operator becomes an integer kernel.
#include "core/base/error.h"
#include "core/job/tersor.h"
#include "core/passes/pipeline.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

const std::vector<std::string> kModels{
    "mlperf-ic-resnet8", "mlperf-kws-dscnn", "mlperf-vww-mobilenetv1",       "mlperf-ad-autoencoder",
    "cifar10-resnet20",  "mnist-cntk",       "imagenet-mobilenetv1-025-224", "hand-keypoint-mlp"};

bool is_core(const Node& node) {
  return node.is("Conv") || node.is("Gemm") || node.is("MatMul");
}

}  // namespace

TEST_CASE("a prepared zoo model computes what the model computes") {
  for (const std::string& name : kModels) {
    const auto path = test::shared_file("zoo/" + name + "/model.onnx");
    if (!path) return;
    INFO(name);
    const OpenedModel opened = open_model(onnx::Source::of(test::read_file(*path)));
    const auto job = prepare(std::make_shared<const OpenedModel>(opened),
                             {tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), {}});
    REQUIRE(test::relative_difference(opened.model, job->model, test::random_inputs(opened.model)) < 1e-5);
    config::QuantizationConfig config;
    config.linear_collapsing = config.residual_collapsing = true;
    const auto collapsed = prepare(std::make_shared<const OpenedModel>(opened),
                                   {tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config});
    REQUIRE(test::relative_difference(opened.model, collapsed->model, test::random_inputs(opened.model)) < 1e-5);
  }
}

TEST_CASE("every Conv, Gemm and MatMul of the labelled eight becomes an integer kernel") {
  for (const std::string& name : kModels) {
    const auto path = test::shared_file("zoo/" + name + "/model.onnx");
    if (!path) return;
    INFO(name);
    Settings settings{tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), {}};
    settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
    settings.config.prefer = config::Preference::kIntegers;
    const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(test::read_file(*path)))),
                             std::move(settings));
    calibrate::Calibrator calibrator = calibrator_of(*job, 2);
    for (uint64_t k = 0; k < 2; ++k) {
      const std::vector<Tensor> inputs = test::random_inputs(job->model, static_cast<uint32_t>(k));
      calibrator.add({k, samples::sample_digest(inputs)}, "sample", inputs);
    }
    const QuantizeResult result = quantize(*job, calibrator.statistics());
    REQUIRE(result.bytes.size() > 1000);
    const auto& nodes = job->model.graph.nodes();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!is_core(nodes[i])) continue;
      INFO(nodes[i].name << ": " << result.plan.outcomes[i].reason);
      REQUIRE(result.plan.outcomes[i].arithmetic != ptq::NodeOutcome::Arithmetic::kFloat);
    }
  }
}
