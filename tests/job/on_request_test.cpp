// SPDX-License-Identifier: Apache-2.0
// Corrections of the plan that run on request: ranges of what feeds a Concat, and mean errors of inputs.
#include <cmath>
#include <memory>

#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/report/corrections.h"
#include "core/samples/sample_digest.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

namespace on_request_test {
using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

config::QuantizationConfig plain_config() {
  config::QuantizationConfig config;
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
  config.activation_channel_equalization = false;
  config.weights_bias_correction = false;
  return config;
}

std::shared_ptr<const Job> job_of(const Model& model, const config::QuantizationConfig& config) {
  const std::vector<std::byte> bytes = onnx::write(model);
  return prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                 {tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config});
}

std::vector<Tensor> sample(const Job& job, uint64_t k) {
  return test::random_inputs(job.model, static_cast<uint32_t>(k + 1));
}

QuantizeResult quantized(const Job& job) {
  constexpr uint64_t kSamples = 40;
  calibrate::Calibrator calibrator = calibrator_of(job, kSamples);
  for (uint64_t k = 0; k < kSamples; ++k)
    calibrator.add({k, samples::sample_digest(sample(job, k))}, "", sample(job, k));
  return quantize(job, calibrator.statistics());
}

/// SQNR in dB of the quantized model's outputs in the runtime's arithmetic, on samples of its own.
double sqnr(const Job& job, const Model& quantized) {
  run::Runner exact(run::Program::compile(job.opened->model, ops::standard()));
  run::Runner simulated(simulate::compile(quantized, simulate::Profile::kX64));
  double signal = 0, noise = 0;
  for (uint64_t k = 1000; k < 1020; ++k) {
    const Tensor a = exact.run(sample(job, k))[0], b = simulated.run(sample(job, k))[0];
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      signal += std::pow(a.data<float>()[i], 2);
      noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

/// Two Convs of like ranges into a Concat, and a Gemm after it. Relu on the first where `clamps`.
NamedModel concatenated(bool clamps = false) {
  NamedModel model;
  model.input("x", {1, 16, 6, 6}).weight("w1", {8, 16, 1, 1}).weight("w2", {8, 16, 1, 1}).weight("w3", {576, 4});
  model.node("Conv", {"x", "w1"}, {"a"}).node("Conv", {"x", "w2"}, {"b"});
  if (clamps) model.node("Relu", {"a"}, {"r"});
  model.node("Concat", {clamps ? "r" : "a", "b"}, {"c"}, {{"axis", int64_t{1}}});
  return model.node("Flatten", {"c"}, {"f"}).node("MatMul", {"f", "w3"}, {"y"}).output("y");
}

/// One loud element in a layer of small ones that all stand below half a step.
Model loud_and_small() {
  NamedModel model;
  Tensor w1 = Tensor::make(DType::kFloat32, Shape{64, 64}), b1 = Tensor::make(DType::kFloat32, Shape{64});
  for (float& w : w1.mutable_data<float>()) w = 1e-3f;
  w1.mutable_data<float>()[0] = 100;
  for (float& b : b1.mutable_data<float>()) b = 0.2f;
  model.input("x", {1, 64}).constant("w1", w1).constant("b1", b1).weight("w2", {64, 8}, 0, 1).weight("b2", {8});
  return model.node("Gemm", {"x", "w1", "b1"}, {"h"}).node("Gemm", {"h", "w2", "b2"}, {"y"}).output("y").build();
}

std::vector<report::Correction> corrections(const Job& job, const QuantizeResult& result) {
  return report::corrections_of(job.passes, result.draft.rewrites, result.plan);
}

}  // namespace

TEST_CASE("what feeds a Concat is rounded once when it has the range of the Concat") {
  const Model model = concatenated().build();
  config::QuantizationConfig config = plain_config();
  const auto plain = job_of(model, config);
  config.concat_threshold_update = true;
  const auto job = job_of(model, config);
  const QuantizeResult result = quantized(*job), without = quantized(*plain);
  const auto params = [&](const char* name) { return result.plan.find(*job->model.graph.find(name))->params; };
  REQUIRE((params("a") == params("c") && params("b") == params("c")));
  REQUIRE(sqnr(*job, result.model) > sqnr(*plain, without.model) + 1);
  REQUIRE(corrections(*plain, without).empty());
  REQUIRE(corrections(*job, result).size() == 1);
  REQUIRE(corrections(*job, result)[0].name == "concat_threshold_update");
  REQUIRE(corrections(*job, result)[0].gained.find(": a") != std::string::npos);
}

TEST_CASE("a range is left alone that others read, a Relu needs, or a Concat makes") {
  config::QuantizationConfig config = plain_config();
  config.concat_threshold_update = true;
  NamedModel branched = concatenated();
  branched.weight("w4", {3, 8, 1, 1}).node("Conv", {"b", "w4"}, {"z"}).output("z");
  const auto job = job_of(branched.build(), config);
  const QuantizeResult result = quantized(*job);
  for (const ptq::AppliedCorrection& one : result.plan.corrections)
    REQUIRE(std::find(one.where.begin(), one.where.end(), "b") == one.where.end());

  const auto clamped = job_of(concatenated(true).build(), config);
  const QuantizeResult kept = quantized(*clamped);
  REQUIRE(kept.plan.find(*clamped->model.graph.find("r"))->params.representable().low == 0);
  REQUIRE(kept.plan.folded_clamps.size() == 1);

  NamedModel nested = concatenated();
  nested.weight("w4", {8, 16, 1, 1}, -9, 9).node("Conv", {"x", "w4"}, {"d"});
  nested.node("Concat", {"c", "d"}, {"e"}, {{"axis", int64_t{1}}}).weight("w5", {3, 24, 1, 1});
  nested.node("Conv", {"e", "w5"}, {"z"});
  Model inner = nested.build();
  inner.graph.outputs = {*inner.graph.find("z")};
  inner.graph.erase_nodes([](const Node& node) { return node.is("Flatten") || node.is("MatMul"); });
  inner.graph.erase_unused_initializers();
  const auto two = job_of(inner, config);
  const QuantizeResult both = quantized(*two);
  const auto range = [&](const char* name) {
    return both.plan.find(*two->model.graph.find(name))->params.representable().high;
  };
  REQUIRE(range("c") < range("e"));
  REQUIRE(range("a") == range("c"));
}

TEST_CASE("a bias makes up for the mean error of a quantized input") {
  config::QuantizationConfig config = plain_config();
  const auto plain = job_of(loud_and_small(), config);
  config.activation_bias_correction = true;
  const auto job = job_of(loud_and_small(), config);
  const QuantizeResult result = quantized(*job), without = quantized(*plain);
  REQUIRE(sqnr(*job, result.model) > sqnr(*plain, without.model) + 10);
  REQUIRE(result.plan.kernels[1].input_correction > 0);
  REQUIRE(result.draft.digest != without.draft.digest);
  REQUIRE(corrections(*job, result).back().name == "activation_bias_correction");
  REQUIRE(corrections(*job, result).back().gained.find("y_node") != std::string::npos);
  REQUIRE(corrections(*plain, without).empty());
}

TEST_CASE("mean errors below the threshold and kernels that weigh unlike are left alone") {
  config::QuantizationConfig config = plain_config();
  config.activation_bias_correction = true;
  config.activation_bias_correction_threshold = 1e6;
  const auto job = job_of(loud_and_small(), config);
  for (const ptq::KernelPlan& kernel : quantized(*job).plan.kernels) REQUIRE(kernel.input_correction == 0);

  config.activation_bias_correction_threshold = 0;
  NamedModel convs;
  const auto size = [](int64_t k) { return Ints{4, 4, k, k}; };
  convs.input("x", {1, 4, 6, 6}).weight("w1", size(1)).weight("w2", size(3)).weight("w3", size(1));
  convs.node("Conv", {"x", "w1"}, {"a"}).node("Conv", {"a", "w2"}, {"b"});
  convs.node("Conv", {"b", "w3"}, {"y"}, {{"pads", Ints{1, 1, 1, 1}}}).output("y");
  const auto other = job_of(convs.build(), config);
  const QuantizeResult result = quantized(*other);
  REQUIRE(result.plan.kernels[0].input_correction > 0);
  REQUIRE(result.plan.kernels[1].input_correction == 0);
  REQUIRE(result.plan.kernels[2].input_correction == 0);
}

}  // namespace on_request_test
