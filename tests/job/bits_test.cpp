// SPDX-License-Identifier: Apache-2.0
// Activations and weights of 2 to 16 bits, in files whose types have 4, 8 or 16.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/onnx/read.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace bits_test {
using namespace tersor;
using test::NamedModel;

namespace {

tpc::TargetPlatformCapabilities platform(const std::string& placement, int activation_bits, int weight_bits,
                                         const std::string& method) {
  return tpc::read_platform(
      R"({"schema_version": 1, "name": "bits", "version": 1, "title": "t", "description": "d",
    "export_rules": {"placement": ")" +
          placement + R"(", "unlisted_kernel": "FLOAT"},
    "attribute_configs": {"float": {"weights_n_bits": 32, "enable_weights_quantization": false},
      "kernel": {"weights_quantization_method": "SYMMETRIC", "weights_n_bits": )" +
          std::to_string(weight_bits) +
          R"(, "weights_per_channel_threshold": true, "enable_weights_quantization": true}},
    "op_configs": {"op": {"default_weight_attr_config": "float", "activation_quantization_method": ")" +
          method + R"(", "activation_n_bits": )" + std::to_string(activation_bits) +
          R"(, "supported_input_activation_n_bits": 16, "enable_activation_quantization": true,
      "attr_weights_configs_mapping": {"kernel_attr": "kernel", "bias_attr": "float"}}},
    "qc_options": {"all": {"quantization_config_list": ["op"]}},
    "tp_model": {"name": "t", "add_metadata": false, "default_qco": "all", "operator_set": [
      {"name": "Conv", "qc_options": "all", "runtime_kernel": "INTEGER"}], "fusing_patterns": []}})",
      "bits.json");
}

Model net() {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w", {6, 4, 3, 3}).weight("b", {6}).weight("v", {5, 6, 1, 1});
  model.node("Conv", {"x", "w", "b"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Conv", {"r", "v"}, {"y"}).output("y");
  return model.build();
}

struct Made {
  Model file;
  Model exact;
  std::vector<std::vector<Tensor>> samples;

  explicit Made(tpc::TargetPlatformCapabilities target) {
    const std::vector<std::byte> bytes = onnx::write(net());
    config::QuantizationConfig config = test::plain_config();
    config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
    const auto job =
        prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), {std::move(target), config});
    exact = job->opened->model;
    file = onnx::read(onnx::Source::of(quantize(*job, test::statistics_of(*job)).bytes));
    for (uint64_t k = 0; k < 6; ++k) samples.push_back(test::sample(*job, k));
  }
  /// Of the file's output, and how many different numbers it takes.
  std::pair<double, size_t> sqnr_and_values() const {
    run::Runner in_float(run::Program::compile(exact, ops::standard()));
    run::Runner simulated(simulate::compile(file, simulate::Profile::kX64));
    double signal = 0, noise = 0;
    std::set<float> values;
    for (const auto& sample : samples) {
      const Tensor a = in_float.run(sample)[0], b = simulated.run(sample)[0];
      for (size_t i = 0; i < a.data<float>().size(); ++i) {
        signal += std::pow(a.data<float>()[i], 2);
        noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
        values.insert(b.data<float>()[i]);
      }
    }
    return {10 * std::log10(signal / noise), values.size()};
  }
};

}  // namespace

TEST_CASE(
    "an input that is moved before it is quantized has the settings of inputs, on platforms that quantize operands") {
  NamedModel model;
  model.input("x", {1, 8, 8, 4}).weight("w", {6, 4, 3, 3});
  model.node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}}).node("Conv", {"t", "w"}, {"c"});
  model.node("Relu", {"c"}, {"r"}).output("r");
  config::QuantizationConfig config = test::plain_config();
  config.prefer = config::Preference::kIntegers;
  config.activation_quantization_method = quant::QuantizationMethod::kPowerOfTwo;
  const auto job = test::job_of(model.build(), "ort-cpu", config);
  for (const ptq::ActivationPlan& one : quantize(*job, test::statistics_of(*job)).plan.activations) {
    int exponent = 0;
    REQUIRE(std::frexp(one.params.scale[0], &exponent) == 0.5f);
  }
}

TEST_CASE("activations take no more values than their bits have, and each bit gains") {
  for (const char* placement : {"OPERANDS", "OUTPUTS"})
    for (const char* method : {"UNIFORM", "SYMMETRIC", "POWER_OF_TWO"}) {
      double before = -100;
      for (const int bits : {2, 3, 4, 5, 7, 8, 10, 12, 16}) {
        INFO(placement << " " << method << " " << bits);
        const auto [sqnr, values] = Made(platform(placement, bits, 16, method)).sqnr_and_values();
        REQUIRE(values <= size_t{1} << bits);
        REQUIRE(sqnr > before + 2);
        before = sqnr;
      }
      REQUIRE(before > 60);
    }
}

TEST_CASE("weights of 9 to 16 bits are stored in 16 and are finer than those of 8") {
  double before = 0;
  for (const int bits : {2, 4, 6, 8, 9, 12, 16}) {
    INFO(bits);
    const Made made(platform("OPERANDS", 16, bits, "UNIFORM"));
    const Graph& graph = made.file.graph;
    const DType type = graph.initializer(*graph.find("w_quantized"))->dtype();
    REQUIRE(type == (bits <= 4 ? DType::kInt4 : bits <= 8 ? DType::kInt8 : DType::kInt16));
    const double sqnr = made.sqnr_and_values().first;
    REQUIRE(sqnr > before + 3);
    before = sqnr;
  }
}

TEST_CASE("the platform any takes every number of bits and every method, with codes clipped to theirs") {
  config::QuantizationConfig config = test::plain_config();
  config.weights_n_bits = 7;
  config.activation_n_bits = 6;
  const auto job = test::job_of(net(), "any", config);
  const Graph file = onnx::read(onnx::Source::of(quantize(*job, test::statistics_of(*job)).bytes)).graph;
  int clips = 0;
  for (size_t i = 0; i < file.nodes().size(); ++i) {
    const Node& node = file.nodes()[i];
    if (!node.is("Clip")) continue;
    ++clips;
    REQUIRE(file.nodes()[i - 1].is("QuantizeLinear"));
    REQUIRE(file.initializer(node.inputs[2])->to_int64s()[0] - file.initializer(node.inputs[1])->to_int64s()[0] == 63);
  }
  REQUIRE(clips == 3);
  for (const auto& [id, tensor] : file.initializers()) {
    if (tensor.dtype() != DType::kInt8 || tensor.elements() < 30) continue;
    const auto codes = tensor.to_int64s();
    REQUIRE(*std::min_element(codes.begin(), codes.end()) >= -64);
    REQUIRE(*std::max_element(codes.begin(), codes.end()) <= 63);
  }
  config.weights_n_bits = 5;
  REQUIRE_THROWS_WITH(test::job_of(net(), "qnn", config), Catch::Contains("\"any\" takes every number of bits"));
}

}  // namespace bits_test
