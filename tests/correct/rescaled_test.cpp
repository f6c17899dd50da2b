// SPDX-License-Identifier: Apache-2.0
// Corrections that move or stretch tensors so that thresholds fit: bounds of Relus, inputs of Softmax, the model's
// input.
#include "core/correct/bound_relus.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/named_model.h"
#include "tests/support/shared.h"

using namespace tersor;
using test::NamedModel;
using Switch = bool config::QuantizationConfig::*;

namespace {

config::QuantizationConfig with(Switch field) {
  config::QuantizationConfig config = test::plain_config();
  config.*field = true;
  return config;
}

Draft drafted(const Model& model, const char* platform, const config::QuantizationConfig& config, float loudness = 1) {
  const auto job = test::job_of(model, platform, config);
  Draft decided = draft(*job, test::statistics_of(*job, 40, loudness));
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(job->model, decided.model, test::sample(*job, k, loudness)) < 1e-5);
  REQUIRE(decided.rewrites.size() == 1);
  return decided;
}

/// By tensor, as the file's metadata will say them.
std::map<std::string, double> factors(const Draft& decided) {
  return ptq::read_tensor_factors(decided.rewrites.at(0).metadata.second);
}

double gain(const Model& model, const char* platform, config::QuantizationConfig config, Switch field,
            float loudness = 1) {
  config.*field = false;
  const double without = test::sqnr_of(model, platform, config, loudness);
  config.*field = true;
  return test::sqnr_of(model, platform, config, loudness) - without;
}

constexpr Switch kRelu = &config::QuantizationConfig::relu_unbound_correction;
constexpr Switch kSoftmax = &config::QuantizationConfig::softmax_shift;
constexpr Switch kInput = &config::QuantizationConfig::input_scaling;

/// One loud channel reaches the bound, the quiet ones matter as much.
Model bounded(float bound, float size = 4, bool bias = true, bool twice = false) {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {6, 4, 1, 1}, -size, size).weight("w2", {5, 6, 1, 1});
  model.weight("b1", {6}, -0.1f, 0.1f).scale_along("w1", 0, 0.3).scale_along("w2", 1, 1 / 0.3);
  model.constant("low", Tensor::scalar(0.0f)).constant("high", Tensor::scalar(bound));
  model.node("Conv", bias ? std::vector<std::string>{"x", "w1", "b1"} : std::vector<std::string>{"x", "w1"}, {"c"});
  model.node("Clip", {"c", "low", "high"}, {"r"}).node("Conv", {"r", "w2"}, {"y"}).output("y");
  if (twice) model.node("Sigmoid", {"r"}, {"z"}).output("z");
  return model.build();
}

Model classes(float low, float high, bool shows = false) {
  NamedModel model;
  model.input("x", {1, 4}).weight("w", {4, 5}).weight("b", {5}, low, high);
  model.node("Gemm", {"x", "w", "b"}, {"g"}).node("Softmax", {"g"}, {"y"}).output("y");
  if (shows) model.output("g");
  return model.build();
}

Model dense() {
  NamedModel model;
  model.input("x", {1, 64}).weight("w", {64, 16}).node("Gemm", {"x", "w"}, {"y"}).output("y");
  return model.build();
}

/// Pictures with their channels last, as TensorFlow has them, moved and padded before their Conv.
Model channels_last() {
  NamedModel model;
  model.input("x", {1, 8, 8, 3}).weight("w", {6, 3, 3, 3});
  model.constant("pads", Tensor::of<int64_t>({8}, {0, 0, 1, 1, 0, 0, 1, 1}));
  model.node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  model.node("Pad", {"t", "pads"}, {"p"}).node("Conv", {"p", "w"}, {"y"}).output("y");
  return model.build();
}

}  // namespace

TEST_CASE("the bound of a Relu moves to the threshold") {
  for (const bool bias : {true, false}) {
    const Draft decided = drafted(bounded(6, 4, bias), "imx500", with(kRelu));
    REQUIRE(decided.rewrites[0].places == 1);
    REQUIRE(factors(decided).at("r") == 8.0 / 6.0);
    REQUIRE(decided.plan.folded_clamps.size() == 1);
  }
  REQUIRE(gain(bounded(6), "imx500", test::plain_config(), kRelu) > 0.25);
}

TEST_CASE("the bound of a Relu stays where it is a power of two, out of reach, read twice, or met by its threshold") {
  REQUIRE(factors(drafted(bounded(8), "imx500", with(kRelu))).empty());
  REQUIRE(factors(drafted(bounded(6, 0.5f), "imx500", with(kRelu))).empty());
  REQUIRE(factors(drafted(bounded(6, 4, true, true), "imx500", with(kRelu))).empty());
  const Draft uniform = drafted(bounded(6), "ort-cpu", with(kRelu));
  REQUIRE(factors(uniform).empty());
  REQUIRE_THAT(uniform.rewrites[0].what, Catch::Matchers::Contains("not POWER_OF_TWO"));
}

TEST_CASE("a file says by what its tensors are multiplied") {
  const auto job = test::job_of(bounded(6), "imx500", with(kRelu));
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  std::string text;
  for (const auto& [key, value] : result.model.metadata)
    if (key == ptq::kTensorFactors) text = value;
  REQUIRE(ptq::read_tensor_factors(text) == factors(result.draft));
  REQUIRE(ptq::read_tensor_factors("nonsense\n-1 a\n2 b c\n") == std::map<std::string, double>{{"b c", 2}});
}

TEST_CASE("the input of a Softmax is centred on zero") {
  const Draft decided = drafted(classes(40, 42), "imx500", with(kSoftmax));
  REQUIRE(decided.rewrites[0].places == 1);
  REQUIRE(gain(classes(40, 42), "imx500", test::plain_config(), kSoftmax) > 3);
}

TEST_CASE("the input of a Softmax stays where others read it or it is float") {
  REQUIRE(drafted(classes(40, 42, true), "imx500", with(kSoftmax)).rewrites[0].places == 0);
  REQUIRE(drafted(classes(40, 42), "ort-cpu", with(kSoftmax)).rewrites[0].places == 0);
}

TEST_CASE("an input below its threshold is stretched to it inside the model") {
  for (const char* platform : {"imx500", "ort-cpu"}) {
    INFO(platform);
    config::QuantizationConfig config = with(kInput);
    config.activation_quantization_method = quant::QuantizationMethod::kPowerOfTwo;
    const Draft decided = drafted(dense(), platform, config, 0.6f);
    REQUIRE(decided.rewrites[0].places == 1);
    REQUIRE(decided.plan.find(decided.model.graph.inputs[0]) == nullptr);
    REQUIRE(decided.plan.find(*decided.model.graph.find("x_rescaled")) != nullptr);
    REQUIRE(gain(dense(), platform, config, kInput, 0.6f) > 0.3);
  }
}

TEST_CASE("an input is stretched after what moves it, too, wherever its quantizer stands") {
  for (const char* platform : {"imx500", "ort-cpu", "any"}) {
    INFO(platform);
    config::QuantizationConfig config = with(kInput);
    config.activation_quantization_method = quant::QuantizationMethod::kPowerOfTwo;
    const Draft decided = drafted(channels_last(), platform, config, 0.6f);
    REQUIRE(decided.rewrites[0].places == 1);
    REQUIRE(gain(channels_last(), platform, config, kInput, 0.6f) > 0.3);
  }
}

TEST_CASE("an input that meets its threshold, or has a zero point, is left alone") {
  REQUIRE(drafted(dense(), "imx500", with(kInput)).rewrites[0].places == 0);
  REQUIRE(drafted(dense(), "ort-cpu", with(kInput), 0.6f).rewrites[0].places == 0);
}

TEST_CASE("zoo models compute what they did, bounds, inputs and Softmax moved") {
  int64_t places = 0;
  for (const char* name : {"imagenet-mobilenetv1-025-224", "mlperf-kws-dscnn", "mlperf-ic-resnet8"}) {
    const auto path = test::shared_file(std::string("zoo/") + name + "/model.onnx");
    if (!path) return;
    INFO(name);
    config::QuantizationConfig config = with(kRelu);
    config.softmax_shift = config.input_scaling = true;
    const OpenedModel opened = open_model(onnx::Source::of(test::read_file(*path)));
    const auto job = test::job_of(opened.model, "imx500", config);
    const Draft decided = draft(*job, test::statistics_of(*job, 2, 0.6f));
    REQUIRE(decided.rewrites.size() == 3);
    for (const ptq::Rewrite& one : decided.rewrites) places += one.places;
    REQUIRE(test::relative_difference(job->model, decided.model, test::sample(*job, 7, 0.6f)) < 1e-5);
  }
  REQUIRE(places >= 3);
}
