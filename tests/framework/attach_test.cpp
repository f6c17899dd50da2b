// SPDX-License-Identifier: Apache-2.0
#include "core/framework/attach.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/fuse.h"
#include "core/framework/platform_layers.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"

using namespace tersor;
using namespace tersor::framework;
using config::QuantizationConfig;
using quant::QuantizationMethod;
using test::GraphBuilder;
using tpc::RuntimeKernel;

namespace {

Attachment attach_to(const Graph& graph, const QuantizationConfig& settings = {},
                     const FrameworkInfo& info = onnx_framework_info()) {
  return attach(graph, tpc::get_target_platform_capabilities("ort-cpu", 1), info, settings);
}

const NodeAttachment& of(const GraphBuilder& b, const Attachment& attachment, const char* name) {
  return attachment.of(b.named(name).id);
}

/// x - Conv - Relu - depthwise Conv - Clip(0, 6) - MaxPool - Reshape - Gemm - Softmax
GraphBuilder small_net() {
  GraphBuilder b;
  ValueId x = b.input("x");
  x = b.node("Conv", "conv", {x, b.constant("w1", {8, 3, 3, 3}), b.constant("b1", {8})});
  x = b.node("Relu", "relu", {x});
  x = b.node("Conv", "dw", {x, b.constant("w2", {8, 1, 3, 3})}, {{"group", int64_t{8}}});
  x = b.node("Clip", "clip", {x, b.constant("lo", Shape{}, {0.0f}), b.constant("hi", Shape{}, {6.0f})});
  x = b.node("MaxPool", "pool", {x});
  x = b.node("Reshape", "reshape", {x, b.constant("shape", {2})});
  x = b.node("Gemm", "gemm", {x, b.constant("w3", {10, 32}), b.constant("b3", {10})}, {{"transB", int64_t{1}}});
  b.output(b.node("Softmax", "softmax", {x}));
  return b;
}

QuantizationConfig settings(const char* text) {
  return config::read_quantization_config(std::string_view(text), "config");
}

Error error_of(const Graph& graph, const char* text) {
  try {
    attach_to(graph, settings(text));
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace

TEST_CASE("nodes find their operator sets, kernels and modes") {
  const GraphBuilder b = small_net();
  const Attachment a = attach_to(b.graph);
  REQUIRE(of(b, a, "conv").operator_set == "Conv");
  REQUIRE(of(b, a, "dw").operator_set == "DepthwiseConv2D");
  REQUIRE(of(b, a, "relu").operator_set == "ReLU");
  REQUIRE(of(b, a, "clip").operator_set == "ReLU6");
  REQUIRE(of(b, a, "pool").operator_set == "MaxPool");
  REQUIRE(of(b, a, "gemm").operator_set == "FullyConnected");
  REQUIRE(of(b, a, "softmax").operator_set == "Softmax");
  REQUIRE(of(b, a, "conv").activation == ActivationMode::kFlnNoQuant);
  REQUIRE(of(b, a, "relu").activation == ActivationMode::kQuant);
  REQUIRE(of(b, a, "pool").activation == ActivationMode::kPreserveQuant);
  REQUIRE(of(b, a, "reshape").activation == ActivationMode::kPreserveQuant);
  REQUIRE(of(b, a, "gemm").activation == ActivationMode::kQuant);
  REQUIRE(of(b, a, "conv").kernel == RuntimeKernel::kInteger);
  REQUIRE(of(b, a, "gemm").kernel == RuntimeKernel::kIntegerFloatOutput);
  REQUIRE(of(b, a, "softmax").config().fixed_scale == 1.0 / 256);
  REQUIRE(of(b, a, "softmax").reason.find("computes Softmax in float") != std::string::npos);
  REQUIRE(of(b, a, "conv").reason.empty());
  REQUIRE(a.input_config.activation_quantization_method == QuantizationMethod::kUniform);
  REQUIRE(a.export_rules.placement == tpc::Placement::kOperands);
  REQUIRE(a.find(NodeId{999}) == nullptr);
  REQUIRE_THROWS_AS(a.of(NodeId{999}), Error);
}

TEST_CASE("fused groups are the platform's chains") {
  const GraphBuilder b = small_net();
  const Attachment a = attach_to(b.graph);
  REQUIRE(a.groups.size() == 2);
  REQUIRE(a.groups[0].nodes == std::vector<NodeId>{b.named("conv").id, b.named("relu").id});
  REQUIRE(a.groups[1].nodes == std::vector<NodeId>{b.named("dw").id, b.named("clip").id});
  REQUIRE(of(b, a, "clip").fused_group == 1u);
  REQUIRE_FALSE(of(b, a, "gemm").fused_group.has_value());
}

TEST_CASE("weights are found with the axis of their output channels") {
  GraphBuilder b;
  const ValueId x = b.input("x"), w = b.constant("w", {6, 4}), w4 = b.constant("w4", {6, 4, 3, 3}),
                batched = b.constant("batched", {2, 6, 4}), bias = b.constant("bias", {4});
  b.node("Conv", "conv", {x, w4, bias});
  b.node("ConvTranspose", "up", {x, w4});
  b.node("Gemm", "gemm", {x, w, bias});
  b.node("Gemm", "gemm_t", {x, w, bias}, {{"transB", int64_t{1}}});
  b.node("MatMul", "matmul", {x, w});
  b.node("MatMul", "left", {w, x});
  b.node("MatMul", "batch", {x, batched});
  b.node("MatMul", "both", {x, x});
  b.node("Add", "add", {x, bias});
  b.node("Conv", "computed", {x, x});
  const Attachment a = attach_to(b.graph);
  const auto axis = [&](const char* name) { return of(b, a, name).weight(tpc::kKernelAttr)->channel_axis; };
  REQUIRE(axis("conv") == 0);
  REQUIRE(of(b, a, "conv").weight(tpc::kKernelAttr)->input_channel_axis == 1);
  REQUIRE(axis("up") == 1);
  REQUIRE(axis("gemm") == 1);
  REQUIRE(axis("gemm_t") == 0);
  REQUIRE(axis("matmul") == 1);
  REQUIRE_FALSE(axis("left").has_value());
  REQUIRE(of(b, a, "left").weight(tpc::kKernelAttr)->input == 0);
  REQUIRE_FALSE(axis("batch").has_value());
  REQUIRE(of(b, a, "both").weight(tpc::kKernelAttr) == nullptr);
  REQUIRE(of(b, a, "both").operator_set == "MatMul");
  REQUIRE(of(b, a, "batch").operator_set == "FullyConnected");
  REQUIRE(of(b, a, "conv").weight(tpc::kBiasAttr)->input == 2);
  REQUIRE(of(b, a, "up").weight(tpc::kBiasAttr) == nullptr);
  REQUIRE(of(b, a, "add").weight(tpc::kPosAttr)->input == 1);
  REQUIRE_FALSE(of(b, a, "add").weight(tpc::kPosAttr)->config.enable_weights_quantization);
  REQUIRE(of(b, a, "computed").weight(tpc::kKernelAttr) == nullptr);
  REQUIRE(of(b, a, "computed").reason == "Its weight is not a float32 constant.");
  REQUIRE(of(b, a, "conv").weight(tpc::kKernelAttr)->config.weights_n_bits == 8);
}

TEST_CASE("a setting narrows the candidates, unset fields come from the platform") {
  const GraphBuilder b = small_net();
  const Attachment a = attach_to(b.graph, settings(R"({"weights_per_channel_threshold": false})"));
  REQUIRE_FALSE(of(b, a, "conv").config().attribute_config(tpc::kKernelAttr).weights_per_channel_threshold);
  REQUIRE(of(b, a, "conv").config().activation_quantization_method == QuantizationMethod::kUniform);
  for (const auto& op : of(b, a, "conv").candidates)
    REQUIRE_FALSE(op.attribute_config(tpc::kKernelAttr).weights_per_channel_threshold);
  // What has no weights, or fixed parameters, is not touched by settings of weights and methods.
  REQUIRE(of(b, a, "pool").candidates.size() == 1);
  const Attachment symmetric = attach_to(b.graph, settings(R"({"activation_quantization_method": "SYMMETRIC"})"));
  REQUIRE(of(b, symmetric, "conv").config().activation_quantization_method == QuantizationMethod::kSymmetric);
  REQUIRE(symmetric.input_config.activation_quantization_method == QuantizationMethod::kSymmetric);
  REQUIRE(of(b, symmetric, "softmax").config().fixed_scale == 1.0 / 256);
  const Attachment both = attach_to(
      b.graph,
      settings(R"({"weights_quantization_method": "POWER_OF_TWO", "activation_quantization_method": "POWER_OF_TWO"})"));
  REQUIRE(of(b, both, "gemm").config().attribute_config(tpc::kKernelAttr).weights_quantization_method ==
          QuantizationMethod::kPowerOfTwo);
  REQUIRE(of(b, both, "gemm").config().attribute_config(tpc::kKernelAttr).weights_per_channel_threshold);
}

TEST_CASE("where a setting excludes the platform's own configuration, the nearest is taken, and what differs is said") {
  const GraphBuilder b = small_net();
  auto platform = tpc::get_target_platform_capabilities("imx500");
  for (tpc::OperatorsSet& set : platform.tp_model.operator_set) {
    if (set.name != "Conv") continue;
    const tpc::OpQuantizationConfig base = set.qc_options->base_config();
    const auto of = [&](int weights, int activations) {
      return base.clone_and_edit([&](tpc::OpQuantizationConfig& config) {
        config.attr_weights_configs_mapping.at("kernel_attr").weights_n_bits = weights;
        config.activation_n_bits = activations;
      });
    };
    set.qc_options = tpc::QuantizationConfigOptions({of(4, 2), of(4, 6), of(4, 16), base}, base);
  }
  config::QuantizationConfig settings;
  settings.weights_n_bits = 4;
  const Attachment a = attach(b.graph, platform, onnx_framework_info(), settings);
  REQUIRE(a.of(b.named("conv").id).config().activation_n_bits == 6);
  REQUIRE(std::count_if(a.notes.begin(), a.notes.end(), [](const Diagnostic& one) {
            return one.code == "nearest_configuration" &&
                   one.message.find("for Conv; what it offers nearest to that has activations of 6 bits") !=
                       std::string::npos;
          }) == 1);
  REQUIRE(attach(b.graph, platform, onnx_framework_info(), {}).notes.empty());
}

TEST_CASE("what the platform does not offer is an error that names set, field and allowed values") {
  const GraphBuilder b = small_net();
  const Error bits = error_of(b.graph, R"({"weights_n_bits": 4})");
  REQUIRE(bits.code == ErrorCode::kInvalidConfig);
  INFO(bits.message);
  REQUIRE(bits.place == "config.weights_n_bits");
  REQUIRE(bits.message ==
          "The platform offers nothing for the operator sets \"Conv\", \"DepthwiseConv2D\", \"FullyConnected\" with "
          "weights_n_bits = 4; it can be 8.");
  const Error together =
      error_of(b.graph, R"({"weights_quantization_method": "UNIFORM", "weights_per_channel_threshold": true})");
  INFO(together.message);
  REQUIRE(together.message.find("not all together: weights_quantization_method = UNIFORM, "
                                "weights_per_channel_threshold = true") != std::string::npos);
}

TEST_CASE("one fault of many operator sets is told once") {
  const GraphBuilder b = small_net();
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const Error both = error_of(b.graph, R"({"weights_n_bits": 3, "activation_n_bits": 5})");
  INFO(both.message);
  REQUIRE(count(both.message, "The platform offers nothing") == 2);
  REQUIRE(count(both.message, "and operators outside its operator sets with activation_n_bits = 5") == 1);
  FrameworkInfo info = onnx_framework_info();
  info.activation_quantizer_mapping.clear();
  try {
    attach_to(b.graph, {}, info);
    FAIL("no error");
  } catch (const Error& error) {
    INFO(error.message);
    REQUIRE(error.place == "config.activation_quantization_method");
    REQUIRE(error.message.find("is UNIFORM, for which there is no quantizer; there is none at all.") !=
            std::string::npos);
  }
}

TEST_CASE("an attr_mapping says which weights the configurations of a set are for") {
  const GraphBuilder b = small_net();
  const auto text = [](const char* mapping) {
    return std::string(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco": {"quantization_config_list": [{
        "default_weight_attr_config": {"weights_n_bits": 5, "enable_weights_quantization": true},
        "attr_weights_configs_mapping": {
        "kernel_attr": {"weights_n_bits": 8, "enable_weights_quantization": true},
        "bias_attr": {"weights_n_bits": 4, "enable_weights_quantization": true}}}]},
        "operator_set": [{"name": "Conv", "attr_mapping": )") +
           mapping + "}]}}";
  };
  const auto bits = [&](const char* mapping, const char* node, std::string_view weight) {
    const auto platform = read_platform(text(mapping), "p.json");
    const auto again = read_platform(to_text(tpc::to_json(platform)), "p.json");
    REQUIRE(again.tp_model.operator_set[0].attr_mapping == platform.tp_model.operator_set[0].attr_mapping);
    const Attachment a = attach(b.graph, platform, onnx_framework_info(), {});
    return a.of(b.named(node).id).weight(weight)->config.weights_n_bits;
  };
  for (const char* same : {"{}", R"({"kernel_attr": {"Conv": "W"}, "bias_attr": {"Conv": "B"}})"}) {
    REQUIRE(bits(same, "conv", tpc::kKernelAttr) == 8);
    REQUIRE(bits(same, "conv", tpc::kBiasAttr) == 4);
  }
  const char* swapped = R"({"kernel_attr": {"Conv": "B"}, "bias_attr": {"Conv": "W"}})";
  REQUIRE(bits(swapped, "conv", tpc::kKernelAttr) == 4);
  REQUIRE(bits(swapped, "conv", tpc::kBiasAttr) == 8);
  REQUIRE(bits(swapped, "gemm", tpc::kKernelAttr) == 8);  // of another set
  const char* kernel_alone = R"({"kernel_attr": {"Conv": "W"}})";
  REQUIRE(bits(kernel_alone, "conv", tpc::kKernelAttr) == 8);
  REQUIRE(bits(kernel_alone, "conv", tpc::kBiasAttr) == 5);

  const auto refused = [&](const char* mapping, const char* said) {
    REQUIRE_THROWS_WITH(read_platform(text(mapping), "p.json"), Catch::Contains(said));
  };
  refused(R"({"kernel_atr": {"Conv": "W"}})", "Did you mean \"kernel_attr\"?");
  refused(R"({"kernel_attr": {"Conv": "kernel"}})", "\"kernel\" is no weight of Conv. Name B, W");
  refused(R"({"kernel_attr": {"Cnv": "W"}})", "Did you mean \"Conv\"?");
  refused("3", "attr_mapping");
}

TEST_CASE("FrameworkInfo says whose kernels and outputs may be quantized") {
  const GraphBuilder b = small_net();
  FrameworkInfo info = onnx_framework_info();
  info.kernel_ops = {"Conv"};
  info.activation_ops = {"Relu"};
  info.no_quantization_ops = {"Reshape"};
  const Attachment a = attach_to(b.graph, {}, info);
  REQUIRE(of(b, a, "conv").weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(of(b, a, "conv").activation == ActivationMode::kFlnNoQuant);
  REQUIRE(of(b, a, "relu").activation == ActivationMode::kQuant);
  REQUIRE_FALSE(of(b, a, "gemm").weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(of(b, a, "reshape").activation == ActivationMode::kNoQuant);
  REQUIRE(of(b, a, "reshape").reason.find("left alone") != std::string::npos);
  // It makes no numbers of its own: they are as its input's.
  REQUIRE(of(b, a, "pool").activation == ActivationMode::kPreserveQuant);
  info.activation_ops = {"MaxPool"};
  REQUIRE(of(b, attach_to(b.graph, {}, info), "conv").reason.find("Outputs of Conv") != std::string::npos);
  info = onnx_framework_info();
  info.kernel_channels_mapping["Gemm"] = {7, 0};
  REQUIRE_THROWS_WITH(attach_to(b.graph, {}, info), Catch::Contains("axis 7 to the kernel of Gemm, which has 2 axes"));
  info.kernel_channels_mapping["Gemm"] = {0, 1};
  REQUIRE_THROWS_WITH(attach_to(b.graph, {}, info),
                      Catch::Contains("axis 0 to the output channels of Gemm, whose kernel has them along axis 1"));
  info.kernel_channels_mapping["Gemm"] = {std::nullopt, 0};
  REQUIRE_FALSE(
      of(b, attach_to(b.graph, {}, info), "gemm").weight(tpc::kKernelAttr)->config.weights_per_channel_threshold);
}

TEST_CASE("bounds of outputs are known beforehand") {
  GraphBuilder b = small_net();
  const ValueId x = b.graph.inputs[0];
  b.node("Elu", "elu", {x}, {{"alpha", 0.5f}});
  b.node("Selu", "selu", {x});
  b.node("Tanh", "tanh", {x});
  const FrameworkInfo info = onnx_framework_info();
  const auto bounds = [&](const char* name) { return info.bounds_of(b.graph, b.named(name)); };
  REQUIRE(bounds("softmax") == ValueBounds{0.0, 1.0});
  REQUIRE(bounds("clip") == ValueBounds{0.0, 6.0});
  REQUIRE(bounds("relu") == ValueBounds{0.0, std::nullopt});
  REQUIRE(bounds("tanh") == ValueBounds{-1.0, 1.0});
  REQUIRE(bounds("elu") == ValueBounds{-0.5, std::nullopt});
  REQUIRE(*bounds("selu").low == Approx(-1.7581).epsilon(1e-4));
  REQUIRE(bounds("conv") == ValueBounds{});
  FrameworkInfo other = info;
  other.layer_min_max_mapping.erase("Softmax");
  other.activation_min_max_mapping["softmax"] = {0.0, 0.5};
  REQUIRE(other.bounds_of(b.graph, b.named("softmax")) == ValueBounds{0.0, 0.5});
}

TEST_CASE("the longest complete pattern wins, and a chain breaks at a branch or an output") {
  GraphBuilder b;
  const ValueId x = b.input("x");
  const ValueId a1 = b.node("A", "a", {x});
  const ValueId b1 = b.node("B", "b", {a1});
  const ValueId c1 = b.node("C", "c", {b1});
  const ValueId d1 = b.node("D", "d", {c1});
  const ValueId a2 = b.node("A", "a2", {d1});
  b.node("B", "b2", {a2});
  b.node("C", "c2", {a2});
  const ValueId a3 = b.node("A", "a3", {x});
  b.node("B", "b3", {a3});
  b.output(a3);
  std::vector<std::string> sets;
  for (const Node& node : b.graph.nodes()) sets.push_back(node.op_type);
  const auto group = [](const char* name) { return tpc::OperatorSetConcat{{name}}; };
  const auto pattern = [&](std::vector<tpc::OperatorSetConcat> groups) { return tpc::Fusing::of(std::move(groups)); };
  const std::vector<tpc::Fusing> all = {pattern({group("A"), group("B")}),
                                        pattern({group("A"), group("B"), group("C")}),
                                        pattern({group("A"), group("B"), group("C"), group("X")})};
  const auto chains = fuse(b.graph, sets, all);
  REQUIRE(chains.size() == 1);
  REQUIRE(chains[0].pattern == 1);
  REQUIRE(chains[0].nodes == std::vector<size_t>{0, 1, 2});
  // A long pattern that is not complete does not hide a short one that is.
  const auto shorter = fuse(b.graph, sets, {all[0], all[2]});
  REQUIRE(shorter.size() == 1);
  REQUIRE(shorter[0].nodes == std::vector<size_t>{0, 1});
}

TEST_CASE("x sigmoid(x) in two nodes is the one operator that a platform knows as Swish") {
  GraphBuilder b;
  ValueId x = b.input("x");
  const ValueId conv = b.node("Conv", "conv", {x, b.constant("w", {1, 1, 1, 1})});
  const ValueId gate = b.node("Sigmoid", "gate", {conv});
  x = b.node("Mul", "mul", {gate, conv});
  const ValueId late = b.node("Sigmoid", "late_gate", {x});
  x = b.node("Mul", "late_mul", {x, late});
  const ValueId shared = b.node("Sigmoid", "shared", {x});
  b.output(b.node("Mul", "product", {x, shared}));
  b.output(shared);
  const auto mode = [&](const Attachment& a, const char* name) { return of(b, a, name).activation; };
  const Attachment a = attach(b.graph, tpc::get_target_platform_capabilities("imx500", 4), onnx_framework_info(), {});
  REQUIRE(of(b, a, "mul").operator_set == "Swish");
  REQUIRE(mode(a, "conv") == ActivationMode::kFlnNoQuant);
  REQUIRE(mode(a, "gate") == ActivationMode::kFlnNoQuant);
  REQUIRE(mode(a, "mul") == ActivationMode::kQuant);
  REQUIRE(of(b, a, "conv").fused_group == of(b, a, "mul").fused_group);
  // Alone it is one operator, too; a Sigmoid that more read is one of its own.
  REQUIRE(mode(a, "late_gate") == ActivationMode::kFlnNoQuant);
  REQUIRE(mode(a, "late_mul") == ActivationMode::kQuant);
  REQUIRE(of(b, a, "late_mul").fused_group != of(b, a, "mul").fused_group);
  REQUIRE(of(b, a, "shared").operator_set == "Sigmoid");
  REQUIRE(mode(a, "shared") == ActivationMode::kQuant);
  // A platform without such a set takes the two as they are.
  const Attachment other = attach_to(b.graph);
  REQUIRE(of(b, other, "gate").operator_set == "Sigmoid");
  REQUIRE(!of(b, other, "gate").fused_group);
}

TEST_CASE("unknown operators stay float with a reason, on any platform nothing is lost") {
  GraphBuilder b;
  ValueId x = b.input("x");
  x = b.node("Mystery", "m", {x});
  b.output(b.node("Pad", "pad", {x, b.constant("pads", {4}), b.constant("value", Shape{}, {1.0f})}));
  const Attachment a = attach_to(b.graph);
  REQUIRE(of(b, a, "m").operator_set.empty());
  REQUIRE(of(b, a, "m").kernel == RuntimeKernel::kFloat);
  REQUIRE(of(b, a, "m").reason.find("computes Mystery in float") != std::string::npos);
  REQUIRE(of(b, a, "pad").operator_set.empty());
  REQUIRE(a.nodes.size() == 2);
}

TEST_CASE("sets that ask for different things of one node are an error of the platform") {
  const auto platform = tpc::read_platform(R"({"schema_version": 1, "name": "p",
    "op_configs": {"a": {}, "b": {"activation_n_bits": 4}},
    "tp_model": {"default_qco": {"quantization_config_list": ["a"]}, "operator_set": [
      {"name": "Permute", "qc_options": {"quantization_config_list": ["a"]}},
      {"name": "Transpose", "qc_options": {"quantization_config_list": ["b"]}}]}})");
  GraphBuilder b;
  b.output(b.node("Transpose", "t", {b.input("x")}));
  REQUIRE_THROWS_WITH(attach(b.graph, platform, onnx_framework_info(), {}),
                      Catch::Contains("\"Permute\" and \"Transpose\""));
  const auto unknown = tpc::read_platform(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
      {"quantization_config_list": [{}]}, "operator_set": [{"name": "Zap"}]}})");
  REQUIRE_THROWS_WITH(attach(b.graph, unknown, onnx_framework_info(), {}), Catch::Contains("operator set \"Zap\""));
}

TEST_CASE("every set of every built-in platform is mapped to layers") {
  for (const auto& label : tpc::builtin_platforms()) {
    const auto platform = tpc::get_target_platform_capabilities(label.name, label.version);
    const OperationsToLayers layers = layers_of(platform);
    for (const auto& set : platform.tp_model.operator_set) {
      INFO(label.name << " " << set.name);
      REQUIRE(layers.find(set.name) != nullptr);
    }
  }
}

TEST_CASE("an attachment prints as JSON") {
  const GraphBuilder b = small_net();
  const Json json = to_json(b.graph, attach_to(b.graph));
  REQUIRE(json["nodes"].size() == 8);
  REQUIRE(json["nodes"][0]["operator_set"] == "Conv");
  REQUIRE(json["nodes"][0]["weights"][0]["channel_axis"] == 0);
  REQUIRE(json["groups"][0]["nodes"][1] == "relu");
}
