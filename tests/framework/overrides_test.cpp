// SPDX-License-Identifier: Apache-2.0
#include "core/framework/overrides.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/attach.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"

namespace overrides_test {
using namespace tersor;
using namespace tersor::framework;
using quant::QuantizationMethod;
using test::GraphBuilder;

namespace {

/// x - Conv "a/conv" - Relu "a/relu" - Conv "b/conv" (depthwise) - MaxPool "b/pool" - Gemm without a name
GraphBuilder net() {
  GraphBuilder b;
  ValueId x = b.input("x");
  x = b.node("Conv", "a/conv", {x, b.constant("w1", {8, 3, 3, 3})});
  x = b.node("Relu", "a/relu", {x});
  x = b.node("Conv", "b/conv", {x, b.constant("w2", {8, 1, 3, 3})}, {{"group", int64_t{8}}});
  x = b.node("MaxPool", "b/pool", {x});
  x = b.node("Gemm", "", {x, b.constant("w3", {10, 32})});
  b.output(x);
  return b;
}

/// Kernels of 8 (base) or 4 bits, activations of 8 (base) or 16.
tpc::TargetPlatformCapabilities mixed() {
  return tpc::read_platform(R"({"schema_version": 1, "name": "mixed",
    "attribute_configs": {"k8": {"weights_n_bits": 8, "enable_weights_quantization": true},
                          "k4": {"extends": "k8", "weights_n_bits": 4}},
    "op_configs": {"act": {"activation_n_bits": 8, "supported_input_activation_n_bits": [8, 16]},
                   "8/8": {"extends": "act", "attr_weights_configs_mapping": {"kernel_attr": "k8"}},
                   "4/8": {"extends": "act", "attr_weights_configs_mapping": {"kernel_attr": "k4"}},
                   "8/16": {"extends": "8/8", "activation_n_bits": 16}},
    "tp_model": {"default_qco": {"quantization_config_list": ["act"]}, "operator_set": [
      {"name": ["Conv", "DepthwiseConv2D", "FullyConnected"],
       "qc_options": {"quantization_config_list": ["8/8", "4/8", "8/16"], "base_config": "8/8"}}]}})");
}

Attachment attach_with(const Graph& graph, const char* overrides, const char* config = "{}",
                       const tpc::TargetPlatformCapabilities& platform = mixed(), const Graph* former = nullptr) {
  return attach(graph, platform, onnx_framework_info(),
                config::read_quantization_config(std::string_view(config), "config"),
                Overrides(config::parse_overrides(overrides, "overrides"), former));
}

Error error_of(const Graph& graph, const char* overrides, const Graph* former = nullptr) {
  try {
    attach_with(graph, overrides, "{}", mixed(), former);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

int weight_bits(const GraphBuilder& b, const Attachment& a, const char* name) {
  return a.of(b.named(name).id).config().attribute_config(tpc::kKernelAttr).weights_n_bits;
}

}  // namespace

TEST_CASE("an override narrows the candidates of the nodes it matches and of no other") {
  const GraphBuilder b = net();
  const Attachment plain = attach_with(b.graph, "[]");
  REQUIRE(plain.of(b.named("a/conv").id).candidates.size() == 3);
  const Attachment a = attach_with(b.graph, R"({"name": "b/conv", "config": {"weights_n_bits": 4}})");
  REQUIRE(weight_bits(b, a, "b/conv") == 4);
  REQUIRE(a.of(b.named("b/conv").id).candidates.size() == 1);
  REQUIRE(a.of(b.named("b/conv").id).weight(tpc::kKernelAttr)->config.weights_n_bits == 4);
  REQUIRE(weight_bits(b, a, "a/conv") == 8);
  REQUIRE(a.of(b.named("a/conv").id).candidates.size() == 3);
  REQUIRE(attach_with(b.graph, R"({"type": "Gemm", "config": {"weights_n_bits": 4}})").nodes[4].config() ==
          attach_with(b.graph, R"({"name": ":0", "config": {"weights_n_bits": 4}})").nodes[4].config());
}

TEST_CASE("a name beats a pattern, a pattern a filter, a filter a type, a type the configuration") {
  const GraphBuilder b = net();
  const char* config = R"({"weights_n_bits": 8})";
  const std::string type = R"({"type": "Conv", "config": {"weights_n_bits": 4}})",
                    filter = R"({"filter": {"layer": "Conv", "all": [{"attr": "group", "op": "Eq", "value": 8}]},
                                 "config": {"weights_n_bits": 8}})",
                    pattern = R"({"name": "b/*", "config": {"weights_n_bits": 4}})",
                    name = R"({"name": "b/conv", "config": {"weights_n_bits": 8}})";
  const auto bits = [&](const std::string& list) {
    const Attachment a = attach_with(b.graph, ("[" + list + "]").c_str(), config);
    return std::to_string(weight_bits(b, a, "a/conv")) + " " + std::to_string(weight_bits(b, a, "b/conv"));
  };
  REQUIRE(bits("") == "8 8");
  REQUIRE(bits(type) == "4 4");
  REQUIRE(bits(filter + "," + type) == "4 8");
  REQUIRE(bits(pattern + "," + filter + "," + type) == "4 4");
  REQUIRE(bits(name + "," + pattern + "," + filter + "," + type) == "4 8");
  // Among equals the later one wins.
  const std::string other = R"({"type": "Conv", "config": {"weights_n_bits": 8}})";
  REQUIRE(bits(type + "," + other) == "8 8");
  REQUIRE(bits(other + "," + type) == "4 4");
}

TEST_CASE("a field that none of the matched nodes takes is told, unless another override beats it there") {
  const GraphBuilder b = net();
  const Error error = error_of(b.graph, R"([{"type": "MaxPool", "config": {"weights_n_bits": 4}},
      {"type": "Conv", "config": {"weights_n_bits": 4}}])");
  REQUIRE(error.place == "overrides[0].config.weights_n_bits");
  REQUIRE(
      error.message.find("changes nothing: the platform leaves no choice of weights_n_bits for operators outside") !=
      std::string::npos);
  // One of those that a pattern matches is enough, and so is one that a name has taken from it.
  REQUIRE_NOTHROW(attach_with(b.graph, R"([{"name": "b/*", "config": {"weights_n_bits": 4}}])"));
  REQUIRE_NOTHROW(attach_with(b.graph, R"([{"name": "b/*", "config": {"weights_n_bits": 4}},
      {"name": "b/conv", "config": {"weights_n_bits": 8}}])"));
}

TEST_CASE("overrides of one node join field by field") {
  const GraphBuilder b = net();
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu", 1);
  const Attachment a = attach_with(b.graph, R"([
      {"name": "a/conv", "config": {"weights_per_channel_threshold": false}},
      {"type": "Conv", "config": {"activation_quantization_method": "SYMMETRIC", "weights_per_channel_threshold": true}}])",
                                   "{}", platform);
  const auto& op = a.of(b.named("a/conv").id).config();
  REQUIRE(op.activation_quantization_method == QuantizationMethod::kSymmetric);
  REQUIRE_FALSE(op.attribute_config(tpc::kKernelAttr).weights_per_channel_threshold);
  REQUIRE(a.of(b.named("b/conv").id).config().attribute_config(tpc::kKernelAttr).weights_per_channel_threshold);
}

TEST_CASE("every node can be left in float, its weight or its output") {
  const GraphBuilder b = net();
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu", 1);
  const Attachment a = attach_with(b.graph, R"([
      {"name": "a/conv", "config": {"enable_weights_quantization": false}},
      {"name": "b/conv", "config": {"enable_activation_quantization": false}},
      {"type": "MaxPool", "config": {"enable_activation_quantization": false}}])",
                                   R"({"weights_n_bits": 8})", platform);
  REQUIRE_FALSE(a.of(b.named("a/conv").id).weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(a.of(b.named("a/conv").id).config().enable_activation_quantization);
  const NodeAttachment& second = a.of(b.named("b/conv").id);
  REQUIRE(second.weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(second.activation == ActivationMode::kNoQuant);
  REQUIRE(second.reason == "The settings leave its output in float.");
  REQUIRE(a.of(b.named("b/pool").id).activation == ActivationMode::kNoQuant);
}

TEST_CASE("what no candidate allows names operator set, field, allowed values and the override") {
  const GraphBuilder b = net();
  const Error bits = error_of(b.graph, R"([{"name": "b/conv", "config": {"weights_n_bits": 3}}])");
  REQUIRE(bits.code == ErrorCode::kInvalidConfig);
  REQUIRE(bits.place == "overrides[0].config.weights_n_bits");
  REQUIRE(bits.message.find("the operator set \"DepthwiseConv2D\" with weights_n_bits = 3; it can be 8, 4.") !=
          std::string::npos);
  const Error both =
      error_of(b.graph, R"([{"name": "b/conv", "config": {"weights_n_bits": 4, "activation_n_bits": 16}}])");
  REQUIRE(both.message.find("not all together") != std::string::npos);
  // By its very name a node without a weight is asked for what it cannot have; by type that is nothing to say.
  const Error weight = error_of(b.graph, R"([{"name": "a/relu", "config": {"weights_n_bits": 4}}])");
  REQUIRE(weight.message.find("it can be 32") != std::string::npos);
  REQUIRE(error_of(b.graph, R"([{"name": "a/*", "config": {"weights_n_bits": 4}}])").message == "no error");
}

TEST_CASE("an override that matches no node is an error with the nearest name") {
  const GraphBuilder b = net();
  const Error name = error_of(
      b.graph,
      R"([{"name": "a/conf", "config": {"weights_n_bits": 8}}, {"type": "Convolution", "config": {"weights_n_bits": 8}},
      {"filter": {"layer": "Conv", "kwargs": {"group": 3}}, "config": {"weights_n_bits": 8}}, {"name": "c/*", "config": {"weights_n_bits": 8}},
      {"name": "a/conv", "type": "Relu", "config": {"weights_n_bits": 8}}])");
  INFO(name.message);
  for (const char* part : {"overrides[0].name: No node of the model is called \"a/conf\". Did you mean \"a/conv\"?",
                           "overrides[1].type: The model has no operator of the type \"Convolution\".",
                           "overrides[2].filter: No node", "overrides[3].name: No node of the model is called \"c/*\".",
                           "overrides[4]: The node \"a/conv\" is not of the type or filter"})
    REQUIRE(name.message.find(part) != std::string::npos);
  GraphBuilder former = net();
  former.node("BatchNormalization", "a/bn", {former.graph.inputs[0]});
  REQUIRE(error_of(b.graph, R"([{"name": "a/bn", "config": {"weights_n_bits": 8}}])", &former.graph)
              .message.find("folded into") != std::string::npos);
}

TEST_CASE("a filter that asks for an attribute which no operator has names it, and the nearest") {
  const Error error = error_of(
      net().graph, R"([{"filter": {"layer": "Conv", "kwargs": {"groups": 1}}, "config": {"weights_n_bits": 8}}])");
  REQUIRE(error.message.find("No Conv of the model has the attribute \"groups\".") != std::string::npos);
  REQUIRE((error.message + error.hint).find("Did you mean \"group\"?") != std::string::npos);
}

TEST_CASE("all that the platform does not offer is told at once, beside overrides that match nothing") {
  const GraphBuilder b = net();
  const Error error = error_of(b.graph, R"([
      {"name": "a/conv", "config": {"weights_n_bits": 3, "activation_n_bits": 5}},
      {"name": "b/conv", "config": {"weights_n_bits": 2}}, {"name": "nowhere", "config": {"weights_n_bits": 8}}])");
  INFO(error.message);
  // The bits of the output are those of the Relu after a/conv too, which is in no set.
  REQUIRE(error.message.find("has 5 faults") != std::string::npos);
  for (const char* part : {"overrides[0].config.weights_n_bits: The platform offers nothing",
                           "overrides[0].config.activation_n_bits: The platform offers nothing for the operator set",
                           "overrides[0].config.activation_n_bits: The platform offers nothing for operators outside",
                           "overrides[1].config.weights_n_bits: The platform offers nothing",
                           "overrides[2].name: No node of the model is called \"nowhere\"."})
    REQUIRE(error.message.find(part) != std::string::npos);
}

TEST_CASE("patterns") {
  REQUIRE(matches_pattern("*", ""));
  REQUIRE(matches_pattern("a*c*e", "abcde"));
  REQUIRE(matches_pattern("?b*", "abc"));
  REQUIRE(matches_pattern("*/conv", "x/y/conv"));
  REQUIRE_FALSE(matches_pattern("a*d", "abc"));
  REQUIRE_FALSE(matches_pattern("?", ""));
  REQUIRE_FALSE(matches_pattern("", "a"));
}

TEST_CASE("the nearest name") {
  REQUIRE(nearest_name("conf1", {"relu1", "conv1", "conv2"}) == "conv1");
  REQUIRE(nearest_name("xyzxyz", {"relu1"}).empty());
  REQUIRE(nearest_name("a", {}).empty());
}

}  // namespace overrides_test
