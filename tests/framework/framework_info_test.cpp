// SPDX-License-Identifier: Apache-2.0
// FrameworkInfo and the examples of its document, in ONNX terms.
#include "core/framework/framework_info.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/attach.h"
#include "core/framework/document_layers.h"
#include "core/graph/operators.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"

using namespace tersor;
using namespace tersor::framework;
using quant::QuantizationMethod;
using test::GraphBuilder;

namespace {

FrameworkInfo info_of(const char* text, FrameworkInfo start = onnx_framework_info()) {
  return read_framework_info(parse_json(text, "framework_info"), "framework_info", std::move(start));
}

/// x - Conv - Relu - Reshape - Gemm - Softmax
GraphBuilder net() {
  GraphBuilder b;
  ValueId x = b.input("x");
  x = b.node("Conv", "conv", {x, b.constant("w", {8, 3, 3, 3})});
  x = b.node("Relu", "relu", {x});
  x = b.node("Reshape", "reshape", {x, b.constant("shape", {2})});
  x = b.node("Gemm", "gemm", {x, b.constant("w2", {32, 10})});
  b.output(b.node("Softmax", "softmax", {x}));
  return b;
}

Attachment attach_with(const GraphBuilder& b, const FrameworkInfo& info, const char* platform = "qnnpack",
                       const char* config = "{}") {
  return attach(b.graph, tpc::get_target_platform_capabilities_by_label(platform), info,
                config::read_quantization_config(std::string_view(config), "config"));
}

bool quantizes_kernel(const GraphBuilder& b, const Attachment& a, const char* name) {
  return a.of(b.named(name).id).weight(tpc::kKernelAttr)->config.enable_weights_quantization;
}

}  // namespace

TEST_CASE("only the kernels of the operators named are quantized, by the channels given") {
  // FrameworkInfo([Conv2D], [], [], {Conv2D: (3, 2)}, {}, {}); ONNX stores the kernel of a Conv as [out, in, ...].
  const FrameworkInfo info = info_of(R"({"kernel_ops": ["Conv"], "kernel_channels_mapping": {"Conv": [0, 1]}})");
  const GraphBuilder b = net();
  const Attachment a = attach_with(b, info);
  REQUIRE(quantizes_kernel(b, a, "conv"));
  REQUIRE_FALSE(quantizes_kernel(b, a, "gemm"));
  REQUIRE(a.of(b.named("conv").id).weight(tpc::kKernelAttr)->channel_axis == 0);
  REQUIRE(a.of(b.named("conv").id).weight(tpc::kKernelAttr)->input_channel_axis == 1);
  REQUIRE_FALSE(a.of(b.named("gemm").id).weight(tpc::kKernelAttr)->channel_axis.has_value());
}

TEST_CASE("only the outputs of the operators named are quantized") {
  const FrameworkInfo info = info_of(R"({"kernel_ops": ["Conv"], "activation_ops": ["Relu"]})");
  const GraphBuilder b = net();
  const Attachment a = attach_with(b, info);
  REQUIRE(a.of(b.named("relu").id).activation == ActivationMode::kQuant);
  REQUIRE(a.of(b.named("softmax").id).activation == ActivationMode::kNoQuant);
  REQUIRE(a.of(b.named("softmax").id).reason == "Outputs of Softmax are not among those to quantize.");
  const FrameworkInfo also = info_of(R"({"kernel_ops": ["Conv", "Gemm"], "activation_ops": ["Relu"]})");
  REQUIRE(attach_with(b, also).of(b.named("gemm").id).activation == ActivationMode::kNoQuant);
}

TEST_CASE("an operator of no_quantization_ops is left alone") {
  const GraphBuilder b = net();
  REQUIRE(attach_with(b, onnx_framework_info()).of(b.named("reshape").id).activation == ActivationMode::kPreserveQuant);
  const FrameworkInfo info = info_of(R"({"no_quantization_ops": ["Reshape"]})");
  REQUIRE(attach_with(b, info).of(b.named("reshape").id).activation == ActivationMode::kNoQuant);
}

TEST_CASE("a range known beforehand is taken from the mappings, of a layer before that of a function") {
  const GraphBuilder b = net();
  const Node& softmax = b.named("softmax");
  const FrameworkInfo none = info_of(R"({"activation_min_max_mapping": {}, "layer_min_max_mapping": {}})");
  REQUIRE(none.bounds_of(b.graph, softmax) == ValueBounds{});
  const FrameworkInfo by_function = info_of(R"({"activation_min_max_mapping": {"softmax": [0, 1]}})", none);
  REQUIRE(by_function.bounds_of(b.graph, softmax) == ValueBounds{0.0, 1.0});
  const FrameworkInfo by_layer = info_of(R"({"layer_min_max_mapping": {"Softmax": [0, 0.5]}})", by_function);
  REQUIRE(by_layer.bounds_of(b.graph, softmax) == ValueBounds{0.0, 0.5});
  REQUIRE(attach_with(b, by_layer).of(softmax.id).bounds == ValueBounds{0.0, 0.5});
  // What is written of a function wins over the default of the layer, and not over what is written of the layer.
  REQUIRE(info_of(R"({"activation_min_max_mapping": {"relu": [0, 9]}})").bounds_of(b.graph, b.named("relu")) ==
          ValueBounds{0.0, 9.0});
  const char* const both =
      R"({"activation_min_max_mapping": {"relu": [0, 9]}, "layer_min_max_mapping": {"Relu": [0, 5]}})";
  REQUIRE(info_of(both).bounds_of(b.graph, b.named("relu")) == ValueBounds{0.0, 5.0});
  REQUIRE(info_of(R"({"layer_min_max_mapping": {"Relu": [0, null]}})").bounds_of(b.graph, b.named("relu")) ==
          ValueBounds{0.0, std::nullopt});
}

TEST_CASE("the quantizer mappings say which quantizer acts for a method") {
  const GraphBuilder b = net();
  const FrameworkInfo info = info_of(R"({"activation_quantizer_mapping": {"UNIFORM": "POWER_OF_TWO"},
                                         "weights_quantizer_mapping": {"SYMMETRIC": "POWER_OF_TWO"}})");
  const Attachment a = attach_with(b, info);
  REQUIRE(a.of(b.named("conv").id).config().activation_quantization_method == QuantizationMethod::kPowerOfTwo);
  REQUIRE(a.of(b.named("conv").id).weight(tpc::kKernelAttr)->config.weights_quantization_method ==
          QuantizationMethod::kPowerOfTwo);
  const FrameworkInfo missing = info_of(R"({"activation_quantizer_mapping": {"SYMMETRIC": "SYMMETRIC"}})");
  REQUIRE_THROWS_WITH(attach_with(b, missing), Catch::Contains("activation_quantization_method of the operator set") &&
                                                   Catch::Contains("is UNIFORM, for which there is no quantizer"));
}

TEST_CASE("every field survives the way through JSON, and every fault is told") {
  const FrameworkInfo info = onnx_framework_info();
  REQUIRE(to_json(info).size() == 8);
  REQUIRE(to_text(to_json(read_framework_info(to_json(info), "f", FrameworkInfo()))) == to_text(to_json(info)));
  std::string message;
  try {
    info_of(R"({"kernel_ops": "Conv", "speed": 1, "kernel_channels_mapping": {"Conv": [0]},
                "activation_quantizer_mapping": {"BEST": "UNIFORM", "UNIFORM": "LUT_POT_QUANTIZER"},
                "layer_min_max_mapping": {"Relu": [1, 0]}})");
  } catch (const Error& error) {
    message = error.message;
  }
  INFO(message);
  for (const char* part :
       {"has 6 faults", "framework_info.kernel_ops: Found \"Conv\" where a list", "There is no field \"speed\"",
        "framework_info.kernel_channels_mapping.Conv: Found [0]", "\"BEST\" is not a",
        "framework_info.activation_quantizer_mapping.UNIFORM: The quantization method LUT_POT_QUANTIZER",
        "framework_info.layer_min_max_mapping.Relu: The lower bound is above"})
    REQUIRE(message.find(part) != std::string::npos);
}

TEST_CASE("layers of the documents are the ONNX operators that exporters write for them, axes of kernels too") {
  const FrameworkInfo info =
      info_of(R"({"kernel_ops": ["Conv2D", "Dense", "Linear"], "activation_ops": ["ReLU", "Relu"],
      "no_quantization_ops": ["Reshape", "Permute"], "layer_min_max_mapping": {"ReLU6": [0, 6]},
      "kernel_channels_mapping": {"Conv2D": [3, 2], "Linear": [0, -1], "ConvTranspose": [1, null]}})");
  REQUIRE(info.kernel_ops == std::vector<std::string>{"Conv", "Gemm", "MatMul"});
  REQUIRE(info.activation_ops == std::vector<std::string>{"Relu"});
  REQUIRE(info.no_quantization_ops == std::vector<std::string>{"Reshape", "Transpose"});
  REQUIRE(info.layer_min_max_mapping.count("Clip") == 1);
  const auto axes = [&](const char* type) {
    const KernelChannels& one = info.kernel_channels_mapping.at(type);
    return std::pair(one.output_axis, one.input_axis);
  };
  REQUIRE(axes("Conv") == std::pair(std::optional(0), std::optional(1)));
  REQUIRE(axes("Gemm") == std::pair(std::optional(1), std::optional(0)));
  REQUIRE(axes("ConvTranspose") == std::pair(std::optional(1), std::optional<int>()));
  REQUIRE_THROWS_WITH(info_of(R"({"kernel_channels_mapping": {"Conv2D": [4, 2]}})"), Catch::Contains("has 4 axes"));
  REQUIRE(onnx_operators(LayerFilterParams("Dense", {Eq("x", 1.0)})).size() == 2);
  REQUIRE(onnx_operators(LayerFilterParams("Dense", {Eq("x", 1.0)}))[1].conditions.size() == 2);
}

TEST_CASE("an operator of FrameworkInfo that no node can be is a fault, with the nearest there is") {
  std::vector<std::string> known = operator_names();
  REQUIRE_NOTHROW(check_operators(onnx_framework_info(), known));
  const FrameworkInfo info = info_of(R"({"kernel_ops": ["Conv", "Conv2"], "activation_ops": ["Reluu"],
      "no_quantization_ops": ["MyReshape"], "kernel_channels_mapping": {"Gem": [0, 1]},
      "activation_min_max_mapping": {"Softmax": [0, 1]}, "layer_min_max_mapping": {"Softmx": [0, 1]}})");
  std::string message;
  try {
    check_operators(info, known);
  } catch (const Error& error) {
    message = error.message;
  }
  INFO(message);
  for (const char* part :
       {"has 6 faults", "framework_info.kernel_ops: \"Conv2\" is no operator. Did you mean \"Conv\"?",
        "framework_info.activation_ops: \"Reluu\" is no operator. Did you mean \"Relu\"?",
        "framework_info.no_quantization_ops: \"MyReshape\" is no operator.",
        "framework_info.kernel_channels_mapping: \"Gem\" is no operator. Did you mean \"Gemm\"?",
        "framework_info.activation_min_max_mapping: \"Softmax\" is no activation function", "Did you mean \"softmax\"?",
        "framework_info.layer_min_max_mapping: \"Softmx\" is no operator."})
    REQUIRE(message.find(part) != std::string::npos);
  // The model's own operators are known too.
  known.push_back("MyReshape");
  REQUIRE_NOTHROW(check_operators(info_of(R"({"no_quantization_ops": ["MyReshape"]})"), known));
}

TEST_CASE("an operator cannot be quantized and left alone") {
  REQUIRE_THROWS_WITH(info_of(R"({"kernel_ops": ["Conv"], "no_quantization_ops": ["Conv", "Relu"],
                                  "activation_ops": ["Relu"]})"),
                      Catch::Contains("framework_info.kernel_ops: Conv is to be quantized and left alone.") &&
                          Catch::Contains("framework_info.activation_ops: Relu is to be quantized and left alone."));
  // The default's lists give way.
  REQUIRE_NOTHROW(info_of(R"({"no_quantization_ops": ["Conv"]})"));
}

TEST_CASE("whole numbers and truths are never quantized, whatever the platform says") {
  GraphBuilder b;
  const ValueId x = b.input("x");
  const ValueId shape = b.node("Shape", "shape", {x});
  const ValueId index = b.graph.add_initializer("i", Tensor::of<int64_t>(Shape{1}, std::vector<int64_t>{0}));
  b.node("Gather", "size", {shape, index});
  b.node("Cast", "to_int", {x}, {{"to", int64_t{7}}});
  b.node("Cast", "to_float", {x}, {{"to", int64_t{1}}});
  b.node("Greater", "greater", {x, x});
  // As in most files: only inputs and outputs have a declared type.
  for (const Node& node : b.graph.nodes()) b.graph.value(node.outputs[0]).dtype = DType::kUndefined;
  for (const char* platform : {"qnnpack", "qnn", "tflite", "imx500"}) {
    const Attachment a = attach_with(b, onnx_framework_info(), platform);
    for (const char* name : {"shape", "size", "to_int", "greater"}) {
      INFO(platform << " " << name);
      REQUIRE(a.of(b.named(name).id).activation == ActivationMode::kNoQuant);
    }
  }
}

TEST_CASE("an output has no more bits than its readers take") {
  const auto platform = [](const char* second, const char* base = "a16") {
    return tpc::read_platform(std::string(R"({"schema_version": 1, "name": "p", "op_configs": {
      "a8": {"supported_input_activation_n_bits": [8, 16]}, "a16": {"extends": "a8", "activation_n_bits": 16},
      "in8": {"supported_input_activation_n_bits": 8}, "pass": {"extends": "a8", "enable_activation_quantization": false,
      "quantization_preserving": true}}, "tp_model": {"default_qco": {"quantization_config_list": ["a8"]}, "operator_set": [
      {"name": "ReLU", "qc_options": {"quantization_config_list": ["a16", "a8"], "base_config": ")") +
                              base + R"("}}, {"name": "Reshape", "qc_options": {"quantization_config_list": ["pass"]}},
      {"name": "Sigmoid", "qc_options": {"quantization_config_list": [)" +
                              second + "]}}]}}");
  };
  GraphBuilder b;
  ValueId x = b.node("Relu", "relu", {b.input("x")});
  x = b.node("Reshape", "reshape", {x, b.constant("shape", {2})});
  b.output(b.node("Sigmoid", "sigmoid", {x}));
  const Attachment a = attach(b.graph, platform("\"in8\""), onnx_framework_info(), {});
  const NodeAttachment& relu = a.of(b.named("relu").id);
  REQUIRE(relu.candidates.size() == 1);
  REQUIRE(relu.config().activation_n_bits == 8);
  REQUIRE(a.notes.size() == 1);
  REQUIRE(a.notes[0].message.find("8 bits instead of 16") != std::string::npos);
  REQUIRE(attach(b.graph, platform("\"in8\"", "a8"), onnx_framework_info(), {}).notes.empty());
  // What quantizes nothing limits nothing.
  const auto free = platform(R"({"extends": "in8", "enable_activation_quantization": false})");
  const Attachment wide = attach(b.graph, free, onnx_framework_info(), {});
  REQUIRE(wide.of(b.named("relu").id).config().activation_n_bits == 16);
  REQUIRE(wide.notes.empty());
  const auto settings =
      Overrides(config::parse_overrides(R"({"type": "Relu", "config": {"activation_n_bits": 16}})", "o"));
  REQUIRE_THROWS_WITH(attach(b.graph, platform("\"in8\""), onnx_framework_info(), {}, settings),
                      Catch::Contains("the operator set \"Sigmoid\" takes inputs of at most 8 bits"));
}

TEST_CASE("methods that the mappings lack are refused by operator set and field, tables need none") {
  const auto platform = [](const char* op, const char* kernel) {
    return tpc::read_platform(
        std::string(R"({"schema_version": 1, "name": "p", "op_configs": {"c": {)") + op +
        R"("attr_weights_configs_mapping": {"kernel_attr": {"enable_weights_quantization": true, )" + kernel +
        R"(}}}}, "tp_model": {"default_qco": {"quantization_config_list": [{}]},
                              "operator_set": [{"name": "Conv", "qc_options": {"quantization_config_list": ["c"]}}]}})");
  };
  const GraphBuilder b = net();
  const auto attach_to = [&](const char* op, const char* kernel) {
    return attach(b.graph, platform(op, kernel), onnx_framework_info(), {});
  };
  REQUIRE_NOTHROW(attach_to("", R"("weights_n_bits": 7)"));
  REQUIRE_NOTHROW(attach_to(R"("activation_n_bits": 5, )", R"("weights_n_bits": 12)"));
  FrameworkInfo without = onnx_framework_info();
  without.activation_quantizer_mapping.erase(quant::QuantizationMethod::kSymmetric);
  REQUIRE_THROWS_WITH(
      attach(b.graph, platform(R"("activation_quantization_method": "SYMMETRIC", )", R"("weights_n_bits": 8)"), without,
             {}),
      Catch::Contains("The activation_quantization_method of the operator set \"Conv\" is SYMMETRIC"));
  REQUIRE_NOTHROW(attach_to(R"("activation_quantization_method": "LUT_POT_QUANTIZER", )", R"("weights_n_bits": 8)"));
  REQUIRE_NOTHROW(attach_to("", R"("weights_n_bits": 4, "weights_quantization_method": "LUT_SYM_QUANTIZER")"));
}
