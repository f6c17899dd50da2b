// SPDX-License-Identifier: Apache-2.0
// Weights by a table in the file: the values, the packing, and that integer kernels take them as well.
#include "core/choose/table_weight.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/job/tersor.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/support/quantized.h"

namespace table_weight_test {
using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

/// Every operator with a kernel: Conv, grouped Conv, ConvTranspose, MatMul and Gemm; w2 has an odd number of weights.
Model weighted_model() {
  NamedModel model;
  model.input("x", {1, 4, 6, 6}).weight("w1", {9, 4, 3, 3}).weight("b1", {9}).weight("w2", {9, 3, 1, 1}, -3, 3);
  model.node("Conv", {"x", "w1", "b1"}, {"a"}, {{"pads", Ints{1, 1, 1, 1}}}).node("Relu", {"a"}, {"r"});
  model.node("Conv", {"r", "w2"}, {"b"}, {{"group", int64_t{3}}}).weight("w3", {9, 5, 2, 2});
  model.node("ConvTranspose", {"b", "w3"}, {"c"}).node("Flatten", {"c"}, {"f"}).weight("w4", {245, 6});
  model.node("MatMul", {"f", "w4"}, {"d"}).weight("w5", {6, 3}).weight("b5", {3});
  return model.node("Gemm", {"d", "w5", "b5"}, {"y"}).output("y").build();
}

/// `constants`: the constant operands of Adds are as the kernels, and every output is quantized that is at all.
tpc::TargetPlatformCapabilities platform(const char* name, const char* method, int bits, const char* more = "",
                                         bool constants = false) {
  // The smallest table that says it: a kernel by a table, activations of 8 bits or none.
  const bool integers = std::string(name) == "integers";
  std::string text = R"({"schema_version": 1, "name": "table", "version": 1, "title": "t", "description": "d",
    "export_rules": {"placement": "PLACEMENT", "signed_activations": false, "narrow_weights": false,
      "integer_bias": INTEGERS, "fold_clamps": true, "quantize_outputs": false, "unlisted_kernel": "FLOAT"},
    "attribute_configs": {"float": {"weights_n_bits": 32, "enable_weights_quantization": false},
      "kernel": {"weights_quantization_method": "METHOD", "weights_n_bits": BITS, MORE
        "weights_per_channel_threshold": true, "enable_weights_quantization": true}},
    "op_configs": {"op": {"default_weight_attr_config": "float", "activation_quantization_method": "UNIFORM",
      "activation_n_bits": 8, "supported_input_activation_n_bits": 8, "enable_activation_quantization": INTEGERS,
      "attr_weights_configs_mapping": {"kernel_attr": "kernel", "bias_attr": "float", "pos_attr": "CONSTANTS"}}},
    "qc_options": {"all": {"quantization_config_list": ["op"]}},
    "tp_model": {"name": "t", "add_metadata": false, "default_qco": "all", "operator_set": [
      {"name": ["Conv", "DepthwiseConv2D", "FullyConnected"], "qc_options": "all", "runtime_kernel": "KERNEL"},
      {"name": ["ConvTranspose", "Add", "Gather"], "qc_options": "all", "runtime_kernel": "FLOAT"}], "fusing_patterns": []}})";
  const auto put = [&text](const std::string& word, const std::string& value) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  };
  put("INTEGERS", integers ? "true" : "false");
  put("PLACEMENT", constants ? "OUTPUTS" : "OPERANDS");
  put("CONSTANTS", constants ? "kernel" : "float");
  put("METHOD", method);
  put("BITS", std::to_string(bits));
  put("MORE", more);
  put("KERNEL", integers ? "INTEGER" : "FLOAT");
  return tpc::read_platform(text, "table.json");
}

using Made = test::Quantized;

Made make(const Model& model, tpc::TargetPlatformCapabilities platform, const char* config = "{}") {
  Settings settings{std::move(platform), config::read_quantization_config(std::string_view(config), "config")};
  settings.config.weights_bias_correction = false;
  settings.config.activation_channel_equalization = false;
  return test::quantize_on_noise(model, std::move(settings), 8);
}

/// The float model with every weight replaced by the values of its table.
Model with_table_values(const Made& made) {
  Model model = made.job->model;
  for (const ptq::KernelPlan& kernel : made.result.plan.kernels) {
    const Tensor& weight = *model.graph.initializer(kernel.op.weight);
    model.graph.set_initializer(kernel.op.weight,
                                quant::dequantize(quant::quantize(weight, *kernel.table), *kernel.table));
  }
  return model;
}

}  // namespace

TEST_CASE("weights by a table are stored packed, and a Gather and a Mul give their values back") {
  for (const char* method : {"LUT_SYM_QUANTIZER", "LUT_POT_QUANTIZER"})
    for (const int bits : {2, 3, 4, 7}) {
      INFO(method << " " << bits);
      const Made made = make(weighted_model(), platform("floats", method, bits));
      REQUIRE(made.result.plan.kernels.size() == 5);
      REQUIRE(made.file.opset() == 13);
      const Model expected = with_table_values(made);
      for (uint32_t seed = 50; seed < 52; ++seed)
        REQUIRE(test::relative_difference(expected, made.file, test::random_inputs(expected, seed)) < 1e-6);
      const std::string types = test::types_of(made.file);
      REQUIRE(types.find("Gather") != std::string::npos);
      REQUIRE(types.find("QuantizeLinear") == std::string::npos);
      std::set<std::string> names;
      for (const Node& node : made.file.graph.nodes()) REQUIRE(names.insert(node.name).second);
      const auto packed = made.file.graph.find("w4_packed");
      REQUIRE(packed);
      const int64_t per_byte = bits == 2 ? 4 : bits == 7 ? 1 : 2;  // of 3 bits and 8 entries, 64 rows are two a byte
      REQUIRE(made.file.graph.initializer(*packed)->elements() == (245 * 6 + per_byte - 1) / per_byte);
      for (const ptq::KernelPlan& kernel : made.result.plan.kernels)
        for (const double t : kernel.table->threshold) {
          int exponent = 0;
          if (method[4] == 'P') REQUIRE(std::frexp(t, &exponent) == 0.5);
        }
    }
}

TEST_CASE("an integer kernel takes the entries of a table as they are") {
  const Made made = make(weighted_model(), platform("integers", "LUT_SYM_QUANTIZER", 4));
  int integer = 0;
  for (const ptq::NodeOutcome& one : made.result.plan.outcomes)
    integer += one.arithmetic == ptq::NodeOutcome::Arithmetic::kInteger ||
                       one.arithmetic == ptq::NodeOutcome::Arithmetic::kIntegerFloatOutput
                   ? 1
                   : 0;
  REQUIRE(integer >= 3);
  const Tensor& stored = *made.file.graph.initializer(*made.file.graph.find("w1_quantized"));
  REQUIRE(stored.dtype() == DType::kInt8);
  std::set<int8_t> entries;
  for (const int8_t code : stored.data<int8_t>()) entries.insert(code);
  REQUIRE(entries.size() <= 16);
  REQUIRE(entries.size() > 8);
  const Model expected = with_table_values(made);
  REQUIRE(test::relative_difference(expected, made.file, test::random_inputs(expected, 60)) < 0.1);
}

TEST_CASE("lut_values_bitwidth decides how wide entries are") {
  const Made wide = make(weighted_model(), platform("floats", "LUT_SYM_QUANTIZER", 4, R"("lut_values_bitwidth": 12,)"));
  REQUIRE(wide.file.graph.initializer(*wide.file.graph.find("w1_table"))->dtype() == DType::kInt16);
  const Made narrow =
      make(weighted_model(), platform("floats", "LUT_SYM_QUANTIZER", 4, R"("lut_values_bitwidth": 5,)"));
  for (const ptq::KernelPlan& kernel : narrow.result.plan.kernels)
    for (const int32_t entry : kernel.table->table) REQUIRE((entry >= -16 && entry < 16));
  REQUIRE_THROWS_WITH(
      make(weighted_model(), platform("integers", "LUT_SYM_QUANTIZER", 4, R"("lut_values_bitwidth": 12,)")),
      Catch::Contains("12 bits"));
}

TEST_CASE("constants by a table: packed beside float operands, entries beside quantized ones") {
  NamedModel net;
  net.input("x", {1, 6, 5, 5}).weight("w", {6, 6, 1, 1}).node("Conv", {"x", "w"}, {"a"}).weight("c", {1, 6, 5, 1});
  const Model model = net.node("Add", {"a", "c"}, {"y"}).output("y").build();
  const auto values = [&](const Made& made) {
    const quant::LutParams& table = *made.result.plan.constants.at(0).table;
    REQUIRE(table.table.size() <= 16);
    return quant::dequantize(quant::quantize(*model.graph.initializer(*model.graph.find("c")), table), table);
  };
  const Made floats = make(model, platform("floats", "LUT_SYM_QUANTIZER", 4, "", true));
  REQUIRE(floats.result.plan.constants.at(0).is_packed);
  REQUIRE(floats.file.graph.initializer(*floats.file.graph.find("c_packed"))->elements() == 15);
  Model expected = with_table_values(floats);
  expected.graph.set_initializer(*expected.graph.find("c"), values(floats));
  REQUIRE(test::relative_difference(expected, floats.file, test::random_inputs(expected, 60)) < 1e-6);

  const Made integers = make(model, platform("integers", "LUT_POT_QUANTIZER", 4, "", true));
  const ptq::ConstantPlan& plan = integers.result.plan.constants.at(0);
  REQUIRE_FALSE(plan.is_packed);
  const Tensor& stored = *integers.file.graph.initializer(*integers.file.graph.find("c_quantized"));
  REQUIRE(stored.dtype() == DType::kInt8);
  const Tensor wanted = values(integers), got = quant::dequantize(stored, plan.params);
  REQUIRE(std::equal(got.data<float>().begin(), got.data<float>().end(), wanted.data<float>().begin()));
  REQUIRE(test::relative_difference(model, integers.file, test::random_inputs(model, 60)) < 0.2);
}

TEST_CASE("the rows of an embedding by a table are its entries") {
  NamedModel net;
  net.input("x", {4, 1100}).weight("table", {1100, 16}).weight("w", {16, 5});
  net.node("ArgMax", {"x"}, {"ids"}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  const Model model = net.node("Gather", {"table", "ids"}, {"r"}).node("MatMul", {"r", "w"}, {"y"}).output("y").build();
  tpc::TargetPlatformCapabilities by_table = platform("floats", "LUT_SYM_QUANTIZER", 4, "", true);
  by_table.export_rules.placement = tpc::Placement::kOperands;
  const Made made = make(model, by_table);
  const ptq::ConstantPlan& plan = made.result.plan.constants.at(0);
  REQUIRE((plan.by_row && plan.table && !plan.is_packed));
  Model expected = with_table_values(made);
  const ValueId table = *expected.graph.find("table");
  expected.graph.set_initializer(
      table, quant::dequantize(quant::quantize(*expected.graph.initializer(table), *plan.table), *plan.table));
  REQUIRE(test::relative_difference(expected, made.file, test::random_inputs(expected, 60)) < 1e-6);
}

TEST_CASE("a table of 8 bits and more is even steps of as many") {
  for (const int bits : {8, 9, 16}) {
    const Made table = make(weighted_model(), platform("floats", "LUT_SYM_QUANTIZER", bits));
    const Made even = make(weighted_model(), platform("floats", "SYMMETRIC", bits));
    REQUIRE(table.result.plan.kernels.size() == even.result.plan.kernels.size());
    for (size_t k = 0; k < even.result.plan.kernels.size(); ++k) {
      REQUIRE_FALSE(table.result.plan.kernels[k].table.has_value());
      REQUIRE(table.result.plan.kernels[k].weight == even.result.plan.kernels[k].weight);
    }
  }
}

TEST_CASE("weights between two ends by channel where a kernel computes in float") {
  const Made made = make(weighted_model(), platform("floats", "UNIFORM", 8));
  const quant::QuantizationParams& weight = made.result.plan.kernels[0].weight;
  REQUIRE(weight.per_channel());
  REQUIRE(std::set<int32_t>(weight.zero_point.begin(), weight.zero_point.end()).size() > 1);
  REQUIRE(test::relative_difference(weighted_model(), made.file, test::random_inputs(weighted_model(), 60)) < 0.05);
  REQUIRE(std::none_of(made.file.graph.nodes().begin(), made.file.graph.nodes().end(),
                       [](const Node& node) { return node.is("Sum"); }));
  // Where what it reads is quantized, a Sum of one operand keeps runtimes from an integer kernel.
  const Made between = make(weighted_model(), platform("integers", "UNIFORM", 8));
  REQUIRE(std::any_of(between.file.graph.nodes().begin(), between.file.graph.nodes().end(),
                      [](const Node& node) { return node.is("Sum"); }));
  const auto& outcomes = between.result.plan.outcomes;
  REQUIRE(std::any_of(outcomes.begin(), outcomes.end(), [](const ptq::NodeOutcome& one) {
    return one.reason.find("zero point for each channel") != std::string::npos;
  }));
  REQUIRE(test::relative_difference(weighted_model(), between.file, test::random_inputs(weighted_model(), 60)) < 0.1);
}

TEST_CASE("where weights crowd around zero a table beats even steps of as many bits") {
  // A bell with long tails, as trained weights have it.
  std::mt19937 random(3);
  Tensor weight = Tensor::make(DType::kFloat32, Shape{8, 64});
  for (float& w : weight.mutable_data<float>()) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += static_cast<double>(random()) / 4294967296.0 - 0.5;
    w = static_cast<float>(sum * sum * sum);
  }
  NamedModel model;
  model.input("x", {1, 8}).constant("w", weight).node("MatMul", {"x", "w"}, {"y"}).output("y");
  const auto error = [&](const char* config) {
    const Made made = make(model.build(), tpc::get_target_platform_capabilities("weight-only-int4"), config);
    double noise = 0, signal = 0;
    for (uint32_t seed = 70; seed < 80; ++seed) {
      const auto inputs = test::random_inputs(made.job->model, seed);
      const Tensor a = run::Runner(run::Program::compile(made.job->model, ops::standard())).run(inputs)[0];
      const Tensor b = run::Runner(run::Program::compile(made.file, ops::standard())).run(inputs)[0];
      for (size_t k = 0; k < 64; ++k) {
        signal += std::pow(a.data<float>()[k], 2);
        noise += std::pow(a.data<float>()[k] - b.data<float>()[k], 2);
      }
    }
    return 10 * std::log10(signal / noise);
  };
  REQUIRE(error(R"({"weights_quantization_method": "LUT_SYM_QUANTIZER"})") > error("{}") + 3);
}

}  // namespace table_weight_test
