// SPDX-License-Identifier: Apache-2.0
// Weights in blocks in the file: every form computes the values of its blocks.
#include "core/choose/block_weight.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/choose/choose_constants.h"
#include "core/export/apply_plan.h"
#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/passes/kernel_op.h"
#include "core/quant/quantizer.h"
#include "core/simulate/fuse.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/quantized.h"

namespace block_weight_test {
using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

/// 72 columns of a Conv and 80 inputs of the products: blocks of 32 do not divide either.
Model model_of_products() {
  NamedModel model;
  model.input("x", {1, 8, 8, 10}).weight("w1", {12, 8, 3, 3}).weight("b1", {12});
  model.node("Conv", {"x", "w1", "b1"}, {"a"}, {{"pads", Ints{1, 1, 1, 1}}});
  model.weight("w2", {12, 4, 2, 2}).node("ConvTranspose", {"a", "w2"}, {"t"}, {{"strides", Ints{2, 2}}});
  model.node("MaxPool", {"t"}, {"m"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  model.constant("rows", Tensor::of<int64_t>({2}, {4, 80})).node("Reshape", {"m", "rows"}, {"r"});
  model.weight("w3", {80, 70}).node("MatMul", {"r", "w3"}, {"p"});
  model.weight("w4", {9, 70}).weight("b4", {9}).node("Gemm", {"p", "w4", "b4"}, {"y"}, {{"transB", int64_t{1}}});
  return model.output("y").build();
}

using Made = test::Quantized;

Made make(const Model& model, const char* platform, const std::string& config) {
  Settings settings{tpc::get_target_platform_capabilities(platform),
                    config::read_quantization_config(std::string_view(config), "config")};
  settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  return test::quantize_on_noise(model, std::move(settings), 8);
}

/// The float model with every weight and bias replaced by what the plan has of it.
Model with_read_back(const Made& made) {
  Model model = made.job->model;
  for (const ptq::KernelPlan& kernel : made.result.plan.kernels) {
    const Tensor weight = *model.graph.initializer(kernel.op.weight);
    model.graph.set_initializer(kernel.op.weight, ptq::read_back(kernel, weight));
    if (!kernel.bias.empty()) passes::set_bias(model.graph, *model.graph.find(kernel.node), kernel.op, kernel.bias);
  }
  return model;
}

std::string config_of(int bits, const char* method, int size) {
  return R"({"weights_n_bits": )" + std::to_string(bits) + R"(, "weights_quantization_method": ")" + method +
         R"(", "weights_block_size": )" + std::to_string(size) +
         R"(, "weights_per_channel_threshold": true, "enable_activation_quantization": false})";
}

bool same(const Tensor& a, const Tensor& b) {
  const auto x = a.data<float>(), y = b.data<float>();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

/// The largest difference of the first output in the runtime's arithmetic, in parts of its range.
double difference(const Model& expected, const Model& file, simulate::Profile profile,
                  const std::vector<Tensor>& inputs) {
  const Tensor a = run::Runner(run::Program::compile(expected, ops::standard())).run(inputs)[0],
               b = run::Runner(simulate::compile(file, profile)).run(inputs)[0];
  double range = 1e-30, most = 0;
  for (size_t k = 0; k < a.data<float>().size(); ++k) {
    range = std::max<double>(range, std::fabs(a.data<float>()[k]));
    most = std::max<double>(most, std::fabs(a.data<float>()[k] - b.data<float>()[k]));
  }
  return most / range;
}

}  // namespace

TEST_CASE("every form of blocks computes the values of its blocks") {
  for (const char* platform : {"weight-only-int4", "weight-only-blocks", "ort-matmul-nbits", "any"})
    for (const char* method : {"SYMMETRIC", "UNIFORM"})
      for (const int bits : {2, 3, 4, 8})
        for (const int size : {16, 32, 64}) {
          if (bits == 8 && std::string(platform) == "weight-only-int4") continue;
          INFO(platform << " " << method << " " << bits << " " << size);
          const Made made = make(model_of_products(), platform, config_of(bits, method, size));
          int blocks = 0;
          for (const ptq::KernelPlan& kernel : made.result.plan.kernels) blocks += kernel.blocks ? 1 : 0;
          REQUIRE(blocks == 3);  // a ConvTranspose has none
          const Model expected = with_read_back(made);
          const auto profile = simulate::Profile::kWasm;  // which rounds no float inputs
          const std::vector<Tensor> inputs = test::random_inputs(expected, 50);
          REQUIRE(difference(expected, made.file, profile, inputs) < 2e-6);
          const std::string types = test::types_of(made.file);
          const bool is_standard = std::string(platform) == "weight-only-blocks";
          REQUIRE((types.find("DequantizeLinear") != std::string::npos) == is_standard);
          REQUIRE(made.file.opset() == (is_standard ? 21 : 13));
          const bool multiplies = std::string(platform) == "ort-matmul-nbits" && (bits == 3 || bits == 4);
          REQUIRE((types.find("MatMulNBits") != std::string::npos) == multiplies);
        }
}

TEST_CASE("an integer kernel reads blocks of few bits as levels of 8, which the runtime makes when it opens the file") {
  const Made eight = make(model_of_products(), "ort-unpacked-weights", R"({"weights_n_bits": 8})");
  const size_t kernels = simulate::fuse(eight.file, simulate::Profile::kX64).integer_nodes.size();
  const std::string any = R"("weights_block_size": 32, "weights_quantization_method": "UNIFORM", )";
  for (const auto& [platform, more] : {std::pair{"ort-unpacked-weights", std::string()}, {"any", any}})
    for (const int bits : {2, 4, 5, 7}) {
      INFO(platform << " " << bits);
      const Made made =
          make(model_of_products(), platform, "{" + more + R"("weights_n_bits": )" + std::to_string(bits) + "}");
      int levels = 0;
      for (const ptq::KernelPlan& kernel : made.result.plan.kernels) {
        if (!kernel.has_levels()) continue;
        ++levels;
        const Tensor weight = *made.job->model.graph.initializer(kernel.op.weight);
        const std::vector<int8_t> integers = ptq::levels_of(kernel, weight);
        REQUIRE(*std::min_element(integers.begin(), integers.end()) >= -127);
        const Tensor restored = quant::dequantize(Tensor::of<int8_t>(weight.shape(), integers), kernel.weight);
        REQUIRE(same(ptq::read_back(kernel, weight), restored));
      }
      REQUIRE(levels == 3);  // a ConvTranspose has none
      if (more.empty()) REQUIRE(simulate::fuse(made.file, simulate::Profile::kX64).integer_nodes.size() == kernels);
      // The same integers without packing and without blocks.
      const Model plain = ptq::apply_restored(made.result.draft.model, made.result.plan);
      const std::vector<Tensor> inputs = test::random_inputs(made.file, 51);
      const auto output_of = [&](const Model& file) {
        return run::Runner(simulate::compile(file, simulate::Profile::kX64)).run(inputs)[0];
      };
      REQUIRE(same(output_of(made.file), output_of(plain)));
    }
}

TEST_CASE("operators without blocks are named, and blocks are refused where a platform has none") {
  const Made made = make(model_of_products(), "weight-only-int8", R"({"weights_block_size": 64})");
  bool named = false;
  for (const Diagnostic& note : made.job->notes)
    named = named || note.message.find("(ConvTranspose)") != std::string::npos;
  REQUIRE(named);
  const auto message_of = [](const char* platform) {
    try {
      make(model_of_products(), platform, R"({"weights_block_size": 32})");
    } catch (const Error& error) {
      return error.message + error.hint;
    }
    return std::string();
  };
  REQUIRE(message_of("ort-cpu").find("weights_block_size = 32; it can be 0, for none.") != std::string::npos);
}

TEST_CASE("a node may have blocks of its own, or none") {
  Settings settings{tpc::get_target_platform_capabilities("weight-only-blocks"), {}};
  settings.overrides = config::parse_overrides(R"([{"type": "MatMul", "config": {"weights_block_size": 16}},
                     {"type": "Gemm", "config": {"weights_block_size": 0}}])",
                                               "overrides");
  const std::vector<std::byte> bytes = onnx::write(model_of_products());
  const auto job =
      prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), std::move(settings));
  const auto size_of = [&](const char* type) {
    for (const Node& node : job->model.graph.nodes())
      if (node.is(type))
        return job->attachment.of(node.id).weight(tpc::kKernelAttr)->config.weights_block_size.value_or(0);
    return -1;
  };
  REQUIRE(size_of("Conv") == 32);
  REQUIRE(size_of("MatMul") == 16);
  REQUIRE(size_of("Gemm") == 0);
}

TEST_CASE("an embedding is gathered from blocks of 4 bits, and by rows of 8 where that is asked for") {
  NamedModel named;
  named.input("x", {1, 3}).weight("words", {90, 72}).weight("types", {64, 20}).weight("w", {72, 20});
  named.node("Cast", {"x"}, {"ids"}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  named.node("Gather", {"words", "ids"}, {"a"}).node("MatMul", {"a", "w"}, {"p"});
  named.node("Gather", {"types", "ids"}, {"b"}).node("Add", {"p", "b"}, {"y"}).output("y");
  const Model model = named.build();
  for (const char* config :
       {"{}", R"({"weights_n_bits": 8})", R"({"weights_quantization_method": "SYMMETRIC"})", R"({"weights_n_bits": 3})",
        R"({"weights_n_bits": 8, "weights_block_size": 64})", R"({"weights_block_size": 16})"}) {
    INFO(config);
    const Made made = make(model, "ort-matmul-nbits", config);
    const bool in_blocks = std::string(config).find("8") == std::string::npos;
    // Rows that are no longer than a block have a scale each.
    const std::string types = test::types_of(made.file);
    REQUIRE((types.find("GatherBlockQuantized") != std::string::npos) == in_blocks);
    REQUIRE(made.file.ir_version == (in_blocks ? 10 : 8));
    Model expected = with_read_back(made);
    for (const ptq::ConstantPlan& one : made.result.plan.constants) {
      const ValueId table = expected.graph.find(one.node)->inputs[one.input];
      expected.graph.set_initializer(table, ptq::read_back(one, *expected.graph.initializer(table)));
    }
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 3}, {0, 63, 17})};
    REQUIRE(difference(expected, made.file, simulate::Profile::kWasm, inputs) < 2e-6);
  }
}

TEST_CASE("accuracy_level is the attribute of MatMulNBits, and 4 has it written for 8 bits too") {
  // Bits, what is asked for, and the levels of the file's MatMulNBits.
  const std::string level = R"("accuracy_level": )", speed = R"("prefer": "SPEED")";
  const std::tuple<int, std::string, std::set<int64_t>> cases[] = {
      {4, "", {1}},
      {4, level + "4", {4}},
      {4, level + "0", {0}},
      {4, level + "2", {2}},
      {8, "", {}},
      {8, level + "4", {4}},
      {8, level + "1", {}},
      {4, speed, {4}},
      {8, speed, {4}},
      {4, speed + ", " + level + "1", {1}},
      {8, speed + ", " + level + "1", {}},
  };
  for (const auto& [bits, asked, expected] : cases) {
    INFO(bits << " bits, " << asked);
    std::string config = config_of(bits, "SYMMETRIC", 32);
    if (!asked.empty()) config.insert(1, asked + ", ");
    const Made made = make(model_of_products(), "ort-matmul-nbits", config);
    std::set<int64_t> levels;
    for (const Node& node : made.file.graph.nodes())
      if (node.op_type == "MatMulNBits") levels.insert(node.int_or("accuracy_level", -1));
    REQUIRE(levels == expected);
  }
}

TEST_CASE("MatMulNBits is written as its schema has it") {
  quant::BlockParams params{quant::QuantizationMethod::kUniform, {4, true, false}, false, 16, 20, {0.5f, -1}, {-8, 7}};
  std::vector<int8_t> row(20, 1);
  row[0] = -8;
  row[19] = 3;
  const ptq::NBitsWeight weight = ptq::nbits_weight(row, params);
  REQUIRE(weight.codes.shape() == Shape{1, 2, 8});
  REQUIRE(weight.codes.data<uint8_t>()[0] == 0x90);
  REQUIRE(weight.codes.data<uint8_t>()[9] == 0xB9);
  REQUIRE(weight.codes.data<uint8_t>()[10] == 0xFF);  // what is filled up is the zero point
  REQUIRE(weight.zero_points.shape() == Shape{1});
  REQUIRE(weight.zero_points.data<uint8_t>()[0] == 0xF0);
}

}  // namespace block_weight_test
