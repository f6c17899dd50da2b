// SPDX-License-Identifier: Apache-2.0
// From a float model and samples to a quantized file, on small models.
#include <functional>

#include "core/base/error.h"
#include "core/export/check_export.h"
#include "core/job/tersor.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using tersor::test::NamedModel;
using Arithmetic = ptq::NodeOutcome::Arithmetic;

namespace {

using Ints = std::vector<int64_t>;

/// A residual block: two Convs, an Add, Relus, pooling, Gemm and Softmax.
NamedModel residual() {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("b1", {8}).weight("w2", {8, 8, 3, 3});
  const Ints pads{1, 1, 1, 1};
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}}).node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2"}, {"c2"}, {{"pads", pads}}).node("Add", {"r1", "c2"}, {"s"});
  model.node("Relu", {"s"}, {"r2"}).node("GlobalAveragePool", {"r2"}, {"p"}).node("Flatten", {"p"}, {"f"});
  model.weight("w3", {8, 4}).weight("b3", {4}).node("Gemm", {"f", "w3", "b3"}, {"g"});
  return model.node("Softmax", {"g"}, {"y"}, {{"axis", int64_t{-1}}}).output("y");
}

Settings default_settings() {
  Settings settings{tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), {}};
  settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;  // needs no samples
  return settings;
}

std::shared_ptr<const Job> job_of(const Model& model, Settings settings = default_settings()) {
  const std::vector<std::byte> bytes = onnx::write(model);
  return prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), std::move(settings));
}

calibrate::Statistics statistics_of(const Job& job, uint64_t begin, uint64_t end, uint64_t step = 1) {
  calibrate::Calibrator calibrator = calibrator_of(job, 16);
  for (uint64_t k = begin; k < end; k += step) {
    const std::vector<Tensor> inputs = test::random_inputs(job.model, static_cast<uint32_t>(k + 1));
    calibrator.add({k, samples::sample_digest(inputs)}, "sample", inputs);
  }
  return calibrator.statistics();
}

QuantizeResult quantized(const Model& model, Settings settings = default_settings()) {
  const auto job = job_of(model, std::move(settings));
  return quantize(*job, statistics_of(*job, 0, 16));
}

std::vector<std::string> names_of(const Job& job) {
  std::vector<std::string> names;
  for (const ptq::PlacedTensor& tensor : job.placement.tensors) names.push_back(job.model.graph.name_of(tensor.value));
  return names;
}

Arithmetic outcome_of(const Job& job, const ptq::QuantizationPlan& plan, const std::string& type, size_t nth = 0) {
  for (size_t i = 0; i < job.model.graph.nodes().size(); ++i)
    if (job.model.graph.nodes()[i].op_type == type && nth-- == 0) return plan.outcomes[i].arithmetic;
  FAIL("no such node");
  return Arithmetic::kFloat;
}

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

/// Largest difference of float and quantized outputs on a sample, computed in float.
double difference(const Model& float_model, const Model& quantized_model, uint32_t seed) {
  return test::relative_difference(float_model, quantized_model, test::random_inputs(float_model, seed));
}

}  // namespace

TEST_CASE("quantizers stand where an integer kernel comes of it and nowhere else") {
  const auto job = job_of(residual().build());
  // The Gemm's and the Softmax's results stay float; clamps share the quantizer of what they clamp.
  REQUIRE(names_of(*job) == std::vector<std::string>{"x", "r1", "c2", "r2", "p", "f"});
  const ptq::Placement& placement = job->placement;
  const auto group = [&](const char* name) { return placement.find(*job->model.graph.find(name))->group; };
  REQUIRE(group("p") == group("f"));
  REQUIRE(group("r1") != group("c2"));
  REQUIRE_FALSE(placement.find(*job->model.graph.find("x"))->integer_made);
  REQUIRE(placement.find(*job->model.graph.find("r2"))->integer_made);
}

TEST_CASE("every operator that can becomes an integer kernel") {
  const Model model = residual().build();
  const auto job = job_of(model);
  const QuantizeResult result = quantize(*job, statistics_of(*job, 0, 16));
  for (const char* type : {"Conv", "Add", "GlobalAveragePool", "Flatten"})
    REQUIRE(outcome_of(*job, result.plan, type) == Arithmetic::kInteger);
  REQUIRE(outcome_of(*job, result.plan, "Gemm") == Arithmetic::kIntegerFloatOutput);
  REQUIRE(outcome_of(*job, result.plan, "Relu") == Arithmetic::kFolded);
  REQUIRE(outcome_of(*job, result.plan, "Softmax") == Arithmetic::kFloat);
  REQUIRE(test::types_of(result.model).find("Relu") == std::string::npos);
  const Model again = onnx::read(onnx::Source::of(result.bytes));
  REQUIRE(again.producer_name == "tersor");
  REQUIRE(again.graph.name_of(again.graph.outputs[0]) == "y");
  for (uint32_t seed = 100; seed < 104; ++seed) REQUIRE(difference(model, again, seed) < 0.05);
}

TEST_CASE("statistics from parts and from a file give the same bytes as one run over the samples") {
  const auto job = job_of(residual().build());
  const QuantizeResult expected = quantize(*job, statistics_of(*job, 0, 16));
  calibrate::Statistics parts = statistics_of(*job, 2, 16, 3);
  calibrate::merge(parts, statistics_of(*job, 0, 16, 3));
  calibrate::merge(parts, statistics_of(*job, 1, 16, 3));
  REQUIRE(quantize(*job, calibrate::read(calibrate::write(parts))).bytes == expected.bytes);
  calibrate::Statistics from_nothing = empty_statistics(*job);
  calibrate::merge(from_nothing, parts);
  REQUIRE(quantize(*job, from_nothing).bytes == expected.bytes);
}

TEST_CASE("statistics that nobody keeps hold what a setting reads, and the file is the same") {
  const auto method = GENERATE(quant::ThresholdSelectionMethod::kLp, quant::ThresholdSelectionMethod::kNoClipping);
  const auto fields = [](const char* name) {
    Settings settings = default_settings();
    settings.config.weights_bias_correction = settings.config.activation_channel_equalization =
        settings.config.split_scales = settings.config.activation_smoothing = settings.config.keep_float_automatically =
            false;
    if (*name != 0) config::set_field(settings.config, std::string(name) + "=true");
    return settings;
  };
  for (const char* name :
       {"", "weights_bias_correction", "activation_channel_equalization", "split_scales", "activation_smoothing",
        "activation_bias_correction", "input_scaling", "shift_negative_activation_correction",
        "relu_unbound_correction", "softmax_shift", "concat_threshold_update", "keep_float_automatically"}) {
    INFO(name);
    Settings settings = fields(name);
    settings.config.activation_threshold_method = method;
    const auto kept = job_of(residual().build(), settings);
    settings.own_statistics_only = true;
    const auto own = job_of(residual().build(), settings);
    const calibrate::Statistics all = statistics_of(*kept, 0, 16), needed = statistics_of(*own, 0, 16);
    if (*name == 0) REQUIRE(all.tensors.size() > needed.tensors.size());
    if (*name == 0)
      for (const calibrate::TensorStatistics& seen : needed.tensors) {
        REQUIRE(seen.channels.empty());
        const bool ends_only = seen.histogram.total() != seen.elements;
        REQUIRE(ends_only == (method == quant::ThresholdSelectionMethod::kNoClipping));
      }
    REQUIRE(quantize(*kept, all).bytes == quantize(*own, needed).bytes);
  }
}

TEST_CASE("a recipe says what differs from another model, platform or data set") {
  const auto job = job_of(residual().build());
  const calibrate::Statistics all = statistics_of(*job, 0, 16);
  const config::Recipe recipe = recipe_of(*job, all);
  REQUIRE(recipe.data_set.samples == 16);
  REQUIRE(differences(recipe, recipe.model_digest, recipe.platform, recipe.data_set).empty());
  REQUIRE(differences(recipe, "", {"", 1, ""}, {0, 0, ""}).empty());
  const config::Recipe fewer = recipe_of(*job, statistics_of(*job, 0, 15));
  REQUIRE(differences(recipe, std::string(64, '0'), {"other", 2, "1"}, fewer.data_set).size() == 3);
  config::RecipePlatform changed = recipe.platform;
  changed.digest = "1";
  REQUIRE_THAT(differences(recipe, "", changed, {0, 0, ""})[0], Catch::Matchers::Contains("has other content than"));
  config::Recipe nameless = recipe;
  nameless.model_digest.clear();
  REQUIRE_THAT(differences(nameless, recipe.model_digest, {"", 1, ""}, {0, 0, ""})[0],
               Catch::Matchers::Contains("model_digest is empty"));
}

TEST_CASE("tampering with what runtimes hold a file to is noticed") {
  const auto job = job_of(residual().build());
  const QuantizeResult result = quantize(*job, statistics_of(*job, 0, 16));
  REQUIRE_NOTHROW(ptq::check_export(job->model, result.model, result.plan));
  const auto broken = [&](const std::function<void(Graph&)>& change) {
    Model model = result.model;
    change(model.graph);
    return error_of([&] { ptq::check_export(job->model, model, result.plan); }).message;
  };
  const auto scaled = [](Graph& graph, const char* name, float factor) {
    const ValueId id = *graph.find(name);
    const Tensor old = *graph.initializer(id);
    Tensor changed = Tensor::make(DType::kFloat32, old.shape());
    for (size_t k = 0; k < old.data<float>().size(); ++k)
      changed.mutable_data<float>()[k] = old.data<float>()[k] * factor;
    graph.set_initializer(id, changed);
  };
  REQUIRE(broken([&](Graph& graph) { scaled(graph, "b1_scale", 1.00001f); }).find("product") != std::string::npos);
  REQUIRE(broken([&](Graph& graph) { scaled(graph, "x_scale", 0); }).find("positive") != std::string::npos);
  REQUIRE(broken([&](Graph& graph) { scaled(graph, "x_scale", -1); }).find("positive") != std::string::npos);
  REQUIRE(broken([&](Graph& graph) { graph.outputs.push_back(*graph.find("c2")); }).find("outputs keep") !=
          std::string::npos);
  const auto second_reader = [](Graph& graph) {
    Node node;
    node.op_type = "Relu";
    node.name = "second_reader";
    node.inputs = {*graph.find("c2")};
    node.outputs = {graph.add_value("second_reader")};
    graph.append(node);
  };
  REQUIRE(broken(second_reader).find("read by one quantizer") != std::string::npos);
}

TEST_CASE("an output that an integer kernel makes stays float under its name") {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 1, 1}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"});
  model.output("y").output("c");
  const Model before = model.build();
  const QuantizeResult result = quantized(before);
  const Graph& graph = result.model.graph;
  REQUIRE(graph.name_of(graph.outputs[0]) == "y");
  REQUIRE(graph.name_of(graph.outputs[1]) == "c");
  REQUIRE(graph.find("c_QuantizeLinear_Input").has_value());
  REQUIRE(difference(before, result.model, 9) < 0.02);
}

TEST_CASE("a Clip folds where the quantizer keeps its bounds") {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 1, 1}).weight("v", {4, 4, 1, 1});
  model.constant("low", Tensor::scalar(0.0f)).constant("high", Tensor::scalar(0.5f));
  model.node("Conv", {"x", "w"}, {"c"}).node("Clip", {"c", "low", "high"}, {"r"}).node("Conv", {"r", "v"}, {"y"});
  const Model before = model.output("y").build();
  const QuantizeResult result = quantized(before);
  REQUIRE(test::types_of(result.model).find("Clip") == std::string::npos);
  REQUIRE(difference(before, result.model, 9) < 0.02);
}

TEST_CASE("tensors and channels that are always zero or constant get valid scales") {
  NamedModel model;
  Tensor weight = Tensor::make(DType::kFloat32, Shape{3, 2, 3, 3});
  for (size_t k = 0; k < 18; ++k) weight.mutable_data<float>()[k] = 0.01f * static_cast<float>(k);  // others: zeros
  model.input("x", {1, 2, 5, 5}).constant("w", weight).constant("b", Tensor::of<float>(Shape{3}, {0, 1000, -1e-30f}));
  model.weight("zero", {2, 3, 1, 1}, 0, 0).constant("shift", Tensor::of<float>(Shape{2}, {7, 7}));
  model.node("Conv", {"x", "w", "b"}, {"c"}).node("Conv", {"c", "zero", "shift"}, {"y"});
  const Model before = model.output("y").build();
  const QuantizeResult result = quantized(before);
  REQUIRE(difference(before, result.model, 9) < 0.01);
  NamedModel dead;
  dead.input("x", {1, 2, 5, 5}).weight("w", {3, 2, 1, 1}, 0, 0).node("Conv", {"x", "w"}, {"y"}).output("y");
  const QuantizeResult silent = quantized(dead.build());
  REQUIRE(difference(dead.build(), silent.model, 9) == 0);
}

TEST_CASE("bias correction takes the mean error of rounded weights away") {
  NamedModel model;
  // Weights that round badly: most are half a step of the largest.
  Tensor weight = Tensor::make(DType::kFloat32, Shape{4, 6, 1, 1});
  for (size_t k = 0; k < 24; ++k) weight.mutable_data<float>()[k] = k % 6 == 0 ? 1.27f : 0.0149f;
  model.input("x", {1, 6, 8, 8}).constant("shift", Tensor::scalar(2.0f)).node("Add", {"x", "shift"}, {"u"});
  model.constant("w", weight).node("Conv", {"u", "w"}, {"y"});
  const Model before = model.output("y").build();
  const auto correction = [&](bool corrected) {
    Settings settings = default_settings();
    settings.config.weights_bias_correction = corrected;
    config::set_field(settings.config, "weights_threshold_method=NOCLIPPING");
    return quantized(before, settings);
  };
  const QuantizeResult on = correction(true), off = correction(false);
  REQUIRE(on.plan.kernels[0].largest_correction > 0.03);  // 5 inputs of mean 2 times an error of about 0.005 each
  REQUIRE(off.plan.kernels[0].largest_correction == 0);
  REQUIRE(difference(before, on.model, 3) < 0.5 * difference(before, off.model, 3));
}

TEST_CASE("every quantizer that the platform offers gives integer kernels and a result near the float model's") {
  const Model model = residual().build();
  for (const char* field : {"weights_quantization_method", "activation_quantization_method"})
    for (const char* method : {"SYMMETRIC", "POWER_OF_TWO", "UNIFORM"})
      for (const char* threshold : {"NOCLIPPING", "MSE", "MAE", "Lp"}) {
        Settings settings = default_settings();
        config::set_field(settings.config, std::string(field) + "=" + method);
        config::set_field(settings.config, std::string("weights_threshold_method=") + threshold);
        config::set_field(settings.config, std::string("activation_threshold_method=") + threshold);
        const auto job = job_of(model, settings);
        const QuantizeResult result = quantize(*job, statistics_of(*job, 0, 16));
        INFO(field << " " << method << " " << threshold);
        REQUIRE(outcome_of(*job, result.plan, "Conv") == Arithmetic::kInteger);
        REQUIRE(difference(model, result.model, 3) < 0.1);
      }
}

TEST_CASE("a model of float16 is quantized, and its file takes and gives float16") {
  Tensor ones = Tensor::make(DType::kFloat16, Shape{4, 3});
  for (size_t k = 0; k < 12; ++k)
    ones.mutable_bytes()[2 * k + 1] = std::byte{k % 2 == 0 ? uint8_t{0x3c} : uint8_t{0xbc}};
  NamedModel model;
  model.input("x", {1, 4}).constant("w", ones).node("MatMul", {"x", "w"}, {"y"}).output("y");
  Model half = model.build();
  half.graph.value(half.graph.inputs[0]).dtype = DType::kFloat16;
  half.graph.value(half.graph.outputs[0]).dtype = DType::kFloat16;
  const auto job = job_of(half);
  REQUIRE(job->model.graph.value(job->model.graph.inputs[0]).dtype == DType::kFloat32);
  const QuantizeResult result = quantize(*job, statistics_of(*job, 0, 4));
  const Graph file = onnx::read(onnx::Source::of(result.bytes)).graph;
  REQUIRE(file.value(file.inputs[0]).dtype == DType::kFloat16);
  REQUIRE(file.value(file.outputs[0]).dtype == DType::kFloat16);
  REQUIRE(file.name_of(file.outputs[0]) == "y");
  REQUIRE(file.nodes().front().is("Cast"));
  REQUIRE(file.nodes().back().is("Cast"));
}

TEST_CASE("a weight that was stored small, and an input that is dequantized, are part of a float model") {
  NamedModel model;
  model.constant("scale", Tensor::scalar(0.1f)).constant("zero", Tensor::scalar(uint8_t{128}));
  model.constant("codes", Tensor::of<int8_t>({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  model.input("x", {1, 4}).node("DequantizeLinear", {"x", "scale", "zero"}, {"d"});
  model.node("DequantizeLinear", {"codes", "scale"}, {"w"}).node("MatMul", {"d", "w"}, {"y"}).output("y");
  Model stored = model.build();
  stored.graph.value(stored.graph.inputs[0]).dtype = DType::kUint8;
  const auto job = job_of(stored);
  const auto& nodes = job->model.graph.nodes();
  REQUIRE(std::count_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.is("DequantizeLinear"); }) == 1);
  NamedModel pair;
  pair.constant("scale", Tensor::scalar(0.1f)).constant("zero", Tensor::scalar(uint8_t{128})).weight("w", {4, 3});
  pair.input("x", {1, 4}).node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  pair.node("DequantizeLinear", {"q", "scale", "zero"}, {"d"}).node("MatMul", {"d", "w"}, {"y"}).output("y");
  REQUIRE(error_of([&] { job_of(pair.build()); }).message == "The model is quantized already.");
}

TEST_CASE("an input that is dequantized by channel stays so, an output that is quantized is named") {
  NamedModel model;
  model.constant("scale", Tensor::of<float>({3}, {0.1f, 0.2f, 0.3f}));
  model.constant("zero", Tensor::of<uint8_t>({3}, {128, 127, 0}));
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3});
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"d"}, {{"axis", int64_t{1}}});
  model.node("Conv", {"d", "w"}, {"y"}).output("y");
  Model pictures = model.build();
  pictures.graph.value(pictures.graph.inputs[0]).dtype = DType::kUint8;
  for (const char* platform : {"ort-cpu", "qnn"}) {
    INFO(platform);
    Settings settings = default_settings();
    settings.platform = tpc::get_target_platform_capabilities(platform);
    const auto job = job_of(pictures, settings);
    calibrate::Calibrator calibrator = calibrator_of(*job, 16);
    for (uint64_t k = 0; k < 4; ++k) {
      std::vector<uint8_t> pixels(108);
      for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * (7 + k));
      const std::vector<Tensor> inputs{Tensor::of<uint8_t>({1, 3, 6, 6}, pixels)};
      calibrator.add({k, samples::sample_digest(inputs)}, "sample", inputs);
    }
    const Graph file = onnx::read(onnx::Source::of(quantize(*job, calibrator.statistics()).bytes)).graph;
    REQUIRE(file.nodes().front().is("DequantizeLinear"));
  }
  NamedModel codes;
  codes.constant("scale", Tensor::scalar(0.1f)).constant("zero", Tensor::scalar(uint8_t{128})).weight("w", {4, 3});
  codes.input("x", {1, 4}).node("MatMul", {"x", "w"}, {"r"}).node("QuantizeLinear", {"r", "scale", "zero"}, {"y"});
  const Error error = error_of([&] { job_of(codes.output("y").build()); });
  REQUIRE(error.message == "This node quantizes the output \"y\".");
  REQUIRE(error.hint == "Give the model without it: with \"r\" as an output in its place.");
}

TEST_CASE("what cannot be quantized is refused with a sentence") {
  const Model model = residual().build();
  const QuantizeResult result = quantized(model);
  REQUIRE(error_of([&] { job_of(result.model); }).message == "The model is quantized already.");
  NamedModel nothing;
  nothing.input("x", {1, 4}).node("Relu", {"x"}, {"y"}).output("y");
  REQUIRE(error_of([&] { job_of(nothing.build()); }).message.find("nothing to quantize") != std::string::npos);
  NamedModel unfit;
  unfit.input("x", {1, 4}).weight("w", {5, 3}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  REQUIRE(error_of([&] { quantized(unfit.build()); }).message == "The input has 4 channels, and the weight is for 5.");
  const auto job = job_of(model), other = job_of(residual().output("r1").build());
  REQUIRE(error_of([&] { quantize(*job, statistics_of(*other, 0, 4)); }).code == ErrorCode::kMismatch);
  REQUIRE(error_of([&] { quantize(*job, empty_statistics(*job)); }).code == ErrorCode::kInvalidSamples);
  Settings later = default_settings();
  later.config.weights_quantization_method = quant::QuantizationMethod::kLutPotQuantizer;
  REQUIRE(error_of([&] { job_of(model, later); }).code == ErrorCode::kInvalidConfig);
}
