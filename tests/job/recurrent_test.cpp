// SPDX-License-Identifier: Apache-2.0
// Weights of recurrent layers: stored in integers with a scale for each row of a gate; the arithmetic stays float.
#include "tests/catch.h"

#include <cmath>

#include "core/export/apply_plan.h"
#include "core/graph/recurrent_weights.h"
#include "core/graph/uses.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::NamedModel;

namespace {

constexpr int64_t kInputs = 24, kHidden = 16;

int64_t gates_of(const std::string& type) {
  return type == "LSTM" ? 4 : type == "GRU" ? 3 : 1;
}

/// A recurrent layer over five steps, and a Gemm after its last state.
Model model_of(const std::string& type, int64_t directions) {
  const int64_t rows = gates_of(type) * kHidden;
  NamedModel model;
  model.input("x", {5, 1, kInputs}).weight("w", {directions, rows, kInputs}).scale_along("w", 1, 1.02);
  model.weight("r", {directions, rows, kHidden}).weight("b", {directions, 2 * rows});
  model.node(type, {"x", "w", "r", "b"}, {"", "last"},
             {{"hidden_size", kHidden}, {"direction", std::string(directions == 2 ? "bidirectional" : "forward")}});
  model.weight("v", {directions * kHidden, 4});
  model.constant("shape", Tensor::of<int64_t>({2}, std::vector<int64_t>{1, directions * kHidden}));
  model.node("Reshape", {"last", "shape"}, {"flat"}).node("MatMul", {"flat", "v"}, {"y"}).output("y");
  return model.build();
}

/// What stands before an input of the layer.
const Node* restoring(const Model& made, const std::string& type, size_t input) {
  const Uses uses(made.graph);
  for (const Node& node : made.graph.nodes())
    if (node.is(type))
      if (const auto maker = uses.producer_index(node.inputs[input])) return &made.graph.nodes()[*maker];
  return nullptr;
}

}  // namespace

TEST_CASE("weights of recurrent layers are stored in int8 with a scale for each row of a gate") {
  for (const char* platform :
       {"ort-cpu", "ort-cpu-s8s8", "ort-cpu-avx2", "ort-web", "weight-only-int8", "weight-only-int4"})
    for (const char* type : {"LSTM", "GRU", "RNN"})
      for (const int64_t directions : {1, 2}) {
        INFO(platform << ' ' << type << ' ' << directions);
        const Model model = model_of(type, directions);
        config::QuantizationConfig config = test::plain_config();
        config.prefer = config::Preference::kIntegers;
        const auto job = test::job_of(model, platform, config);
        const QuantizeResult result = quantize(*job, test::statistics_of(*job));
        for (const size_t input : {size_t{1}, size_t{2}}) {
          const Node* const restore = restoring(result.model, type, input);
          const bool folds = job->attachment.export_rules.float_weights == tpc::FloatWeights::kFold;
          REQUIRE((restore != nullptr && restore->is(folds ? "Mul" : "DequantizeLinear")));
          REQUIRE(result.model.graph.initializer(restore->inputs[1])->elements() == gates_of(type) * kHidden);
          if (folds) continue;
          REQUIRE(restore->int_or("axis", -1) == 1);
          const Tensor& codes = *result.model.graph.initializer(restore->inputs[0]);
          REQUIRE(codes.dtype() == DType::kInt8);
          REQUIRE(codes.shape() == Shape{directions, gates_of(type) * kHidden, input == 1 ? kInputs : kHidden});
        }
        REQUIRE(restoring(result.model, type, 3) == nullptr);  // the bias
        bool said = false;
        for (const ptq::NodeOutcome& outcome : result.plan.outcomes)
          said = said || outcome.reason.find("weights are stored in integers") != std::string::npos;
        REQUIRE(said);
      }
}

TEST_CASE("settings of activations find what they ask for where there are recurrent layers") {
  for (const char* platform : {"ort-cpu", "ort-cpu-s8s8", "ort-cpu-avx2", "ort-web"})
    for (const auto method : {quant::QuantizationMethod::kSymmetric, quant::QuantizationMethod::kPowerOfTwo}) {
      config::QuantizationConfig config = test::plain_config();
      config.activation_quantization_method = method;
      const auto job = test::job_of(model_of("GRU", 1), platform, config);
      REQUIRE(restoring(quantize(*job, test::statistics_of(*job)).model, "GRU", 1) != nullptr);
    }
}

TEST_CASE("a recurrent layer of stored weights gives nearly what it gave") {
  for (const char* type : {"LSTM", "GRU", "RNN"}) {
    const Model model = model_of(type, 2);
    const auto job = test::job_of(model, "weight-only-int8", test::plain_config());
    const QuantizeResult result = quantize(*job, test::statistics_of(*job));
    run::Runner exact(run::Program::compile(model, ops::standard())),
        own(run::Program::compile(result.model, ops::standard()));
    const auto inputs = test::random_inputs(model);
    const Tensor wanted = exact.run(inputs)[0], got = own.run(inputs)[0];
    double signal = 0, noise = 0;
    for (size_t k = 0; k < wanted.data<float>().size(); ++k) {
      const double a = wanted.data<float>()[k], b = got.data<float>()[k];
      signal += a * a, noise += (a - b) * (a - b);
    }
    REQUIRE(10 * std::log10(signal / noise) > 25);
  }
}

TEST_CASE("of what a Loop carries, the weights that it only multiplies by are stored in integers") {
  // state = Tanh(state R + bias), R and the bias carried as TensorFlow writes them.
  NamedModel body;
  body.input("step", {}).input("goes_on", {}).input("state", {1, kHidden}).input("r", {kHidden, kHidden});
  body.input("bias", {1, kHidden}).input("gain", {kHidden, kHidden});
  body.node("MatMul", {"state", "r"}, {"product"})
      .node("Add", {"product", "bias"}, {"sum"})
      .node("Tanh", {"sum"}, {"new"});
  body.node("MatMul", {"gain", "gain"}, {"unused"});
  for (const char* name : {"goes_on", "r", "bias", "gain"}) body.node("Identity", {name}, {std::string(name) + "_out"});
  for (const char* name : {"goes_on_out", "new", "r_out", "bias_out", "gain_out"}) body.output(name);
  Node loop;
  loop.op_type = "Loop";
  loop.inputs.resize(6);
  loop.attributes["body"] = std::make_shared<const Graph>(body.build().graph);
  REQUIRE(recurrent_weights(loop) == std::vector<size_t>{3});
  loop.op_type = "Conv";
  REQUIRE(recurrent_weights(loop).empty());
}

TEST_CASE("weights of recurrent layers stay float where an override says so") {
  config::Override override;
  override.type = "LSTM";
  override.config = R"({"enable_weights_quantization": false})";
  const std::vector<std::byte> bytes = onnx::write(model_of("LSTM", 1));
  const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                           {tpc::get_target_platform_capabilities("ort-cpu"), test::plain_config(), {override}});
  REQUIRE(restoring(quantize(*job, test::statistics_of(*job)).model, "LSTM", 1) == nullptr);
}
