// SPDX-License-Identifier: Apache-2.0
// QuantizeConfig: the interface, the Dense example of its document, and configurations as data.
#include "core/framework/quantize_config.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/attach.h"
#include "core/framework/chosen_layers.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"
#include "tests/support/my_dense_quantize_config.h"

using namespace tersor;
using namespace tersor::framework;
using quant::QuantizationMethod;
using test::GraphBuilder;

namespace {

QuantizeScope scope_with_mine() {
  QuantizeScope scope;
  scope.add("MyDenseQuantizeConfig", [](const Json&, const QuantizeScope&, const std::string&) {
    return std::make_shared<MyDenseQuantizeConfig>();
  });
  return scope;
}

GraphBuilder gemm_net() {
  GraphBuilder b;
  ValueId x =
      b.node("Gemm", "dense",
             {b.input("x"), b.constant("w", {2, 3}, {0.1f, -0.9f, 0.4f, 0.3f, 0.2f, 0.5f}), b.constant("bias", {3})});
  x = b.node("Relu", "relu", {x});
  b.output(b.node("Gemm", "last", {x, b.constant("w2", {3, 2})}));
  return b;
}

GraphBuilder matmul_net() {
  GraphBuilder b;
  ValueId x = b.node("MatMul", "dense", {b.input("x"), b.constant("w", {2, 3}, {0.1f, -0.9f, 0.4f, 0.3f, 0.2f, 0.5f})});
  x = b.node("Add", "add", {x, b.constant("bias", {3})});
  x = b.node("Relu", "relu", {x});
  b.output(b.node("Gemm", "last", {x, b.constant("w2", {3, 2})}));
  return b;
}

Layer layer_in(const GraphBuilder& b, const char* name) {
  return layer_of(b.graph, Uses(b.graph), b.named(name));
}

Attachment attach_with(const GraphBuilder& b, const char* overrides, const char* platform = "openvino",
                       const QuantizeScope& scope = scope_with_mine()) {
  return attach(b.graph, tpc::get_target_platform_capabilities_by_label(platform), onnx_framework_info(), {},
                Overrides(config::parse_overrides(overrides, "overrides"), nullptr, scope));
}

std::string message_of(const GraphBuilder& b, const char* overrides) {
  try {
    attach_with(b, overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a layer is the operator with its bias and its activation function") {
  const GraphBuilder gemm = gemm_net(), matmul = matmul_net();
  for (const GraphBuilder* b : {&gemm, &matmul}) {
    const Layer layer = layer_in(*b, "dense");
    REQUIRE(layer.kernel().value.shape() == Shape{2, 3});
    REQUIRE(layer.bias().value.shape() == Shape{3});
    REQUIRE(layer.activation == "relu");
    REQUIRE(layer.activation_node == b->named("relu").id);
    REQUIRE(layer.bias_node.has_value() == (b == &matmul));
  }
  const Layer last = layer_in(gemm, "last");
  REQUIRE(last.activation == "linear");
  REQUIRE_THROWS_WITH(last.bias(), Catch::Contains("\"last\" (Gemm) has no constant weight called \"bias\""));
}

TEST_CASE("the Dense example quantizes kernel and activation and no output, on a Gemm and on a MatMul with its Add") {
  const GraphBuilder gemm = gemm_net(), matmul = matmul_net();
  for (const GraphBuilder* b : {&gemm, &matmul}) {
    const Attachment a = attach_with(
        *b, R"({"name": "dense", "quantize_config": {"class_name": "MyDenseQuantizeConfig", "config": {}}})",
        "qnnpack");
    const NodeAttachment& dense = a.of(b->named("dense").id);
    const auto& kernel = dense.weight(tpc::kKernelAttr)->config;
    REQUIRE(kernel.enable_weights_quantization);
    REQUIRE(kernel.weights_n_bits == 8);
    REQUIRE(kernel.weights_quantization_method == QuantizationMethod::kSymmetric);
    REQUIRE_FALSE(kernel.weights_per_channel_threshold);
    REQUIRE(dense.kernel_quantizer == LastValueQuantizer(8, false, true, true));  // the platform offers no other
    REQUIRE_FALSE(dense.config().enable_activation_quantization);
    REQUIRE(dense.output_quantizers.empty());
    const NodeAttachment& relu = a.of(b->named("relu").id);
    REQUIRE(relu.config().enable_activation_quantization);
    REQUIRE(relu.config().activation_quantization_method == QuantizationMethod::kUniform);
    REQUIRE(relu.output_quantizers == std::vector{MovingAverageQuantizer(8, false, false)});
    if (b == &matmul) REQUIRE_FALSE(a.of(b->named("add").id).config().enable_activation_quantization);
    // Other layers are the platform's.
    REQUIRE(a.of(b->named("last").id).config().enable_activation_quantization);
    REQUIRE(a.of(b->named("last").id).output_quantizers.empty());
  }
}

TEST_CASE("what a quantizer leaves open is asymmetric and wide where the platform offers it") {
  const GraphBuilder b = gemm_net();
  const char* mine = R"({"name": "dense", "quantize_config": {"class_name": "MyDenseQuantizeConfig", "config": {}}})";
  const auto methods = [&](const char* platform) {
    const Attachment a = attach_with(b, mine, platform);
    const NodeAttachment &dense = a.of(b.named("dense").id), &relu = a.of(b.named("relu").id);
    const QuantizationMethod weights = dense.weight(tpc::kKernelAttr)->config.weights_quantization_method,
                             activation = relu.config().activation_quantization_method;
    const bool uniform_weights = weights == QuantizationMethod::kUniform,
               uniform_activation = activation == QuantizationMethod::kUniform;
    REQUIRE(dense.kernel_quantizer == LastValueQuantizer(8, false, !uniform_weights, !uniform_weights));
    REQUIRE(relu.output_quantizers == std::vector{MovingAverageQuantizer(8, false, !uniform_activation)});
    return std::make_pair(weights, activation);
  };
  using M = QuantizationMethod;
  for (const char* platform : {"ort-cpu", "ort-web"}) REQUIRE(methods(platform) == std::pair(M::kUniform, M::kUniform));
  for (const char* platform : {"tflite", "qnn", "openvino", "qnnpack"})
    REQUIRE(methods(platform) == std::pair(M::kSymmetric, M::kUniform));
  REQUIRE(methods("tensorrt") == std::pair(M::kSymmetric, M::kSymmetric));
}

TEST_CASE("the documents' example holds on every platform, with bits and scales by channel where it has no others") {
  const GraphBuilder b = gemm_net();
  const char* mine = R"({"name": "dense", "quantize_config": {"class_name": "MyDenseQuantizeConfig", "config": {}}})";
  for (const tpc::PlatformLabel& platform : tpc::builtin_platforms()) {
    INFO(platform.name);
    const std::string label = platform.name + "@v" + std::to_string(platform.version);
    const Attachment a = attach_with(b, mine, label.c_str());
    const auto& kernel = a.of(b.named("dense").id).weight(tpc::kKernelAttr)->config;
    REQUIRE(kernel.enable_weights_quantization);
    const auto& taken = a.of(b.named("dense").id).kernel_quantizer;
    REQUIRE(taken->num_bits == kernel.weights_n_bits);
    REQUIRE(taken->per_axis == kernel.weights_per_channel_threshold);
    const NodeAttachment& relu = a.of(b.named("relu").id);
    REQUIRE(relu.output_quantizers.empty() ==
            (platform.name.find("weight-only") == 0 || platform.name == "ort-matmul-nbits"));
  }
  const auto kernel_of = [&](const char* platform) {
    return attach_with(b, mine, platform).of(b.named("dense").id).weight(tpc::kKernelAttr)->config;
  };
  REQUIRE(kernel_of("ort-cpu-avx2").weights_n_bits == 7);
  REQUIRE_FALSE(kernel_of("ort-cpu-avx2").weights_per_channel_threshold);
  REQUIRE(kernel_of("imx500").weights_n_bits == 8);
  REQUIRE(kernel_of("imx500").weights_per_channel_threshold);
  REQUIRE(kernel_of("weight-only-int4").weights_n_bits == 4);
}

TEST_CASE("quantize_layer gets, quantizes and sets the weights") {
  const GraphBuilder b = gemm_net();
  Layer layer = layer_in(b, "dense");
  quantize_layer(MyDenseQuantizeConfig(), layer, 1);
  const auto values = layer.kernel().value.data<float>();
  const double scale = (0.5 + 0.9) / 255;
  REQUIRE(values[1] == Approx(std::round(-0.9 / scale) * scale).epsilon(1e-6));
  REQUIRE(values[0] == Approx(std::round(0.1 / scale) * scale).epsilon(1e-6));
  REQUIRE(layer.activation == "relu");

  struct Wrong : MyDenseQuantizeConfig {
    void set_quantize_weights(Layer& one, const std::vector<Tensor>&) const override {
      one.weights[0].value = Tensor::make(DType::kFloat32, Shape{1});
    }
  };
  layer = layer_in(b, "dense");
  REQUIRE_THROWS_WITH(quantize_layer(Wrong(), layer, 1), Catch::Contains("another shape than"));
}

TEST_CASE("ranges are shaped as the quantizer says") {
  // [min, max] -> the range: symmetric narrow, symmetric wide, asymmetric
  const quant::Range narrow = shape_range(LastValueQuantizer(8, false, true, true), -1, 2);
  REQUIRE(narrow.low == -2);
  REQUIRE(narrow.high == 2);
  const quant::Range wide = shape_range(LastValueQuantizer(8, false, true, false), -1, 2);
  REQUIRE(wide.low == Approx(-2 * 256.0 / 254));
  REQUIRE(wide.high == 2);
  REQUIRE(shape_range(AllValuesQuantizer(), 1, 2).low == 0);
  REQUIRE(shape_range(AllValuesQuantizer(), -2, -1).high == 0);
}

TEST_CASE("configurations and quantizers survive the way through JSON") {
  const QuantizeScope scope = scope_with_mine();
  for (
      const char* text :
      {R"({"class_name": "NoOpQuantizeConfig", "config": {}})",
       R"({"class_name": "DefaultQuantizeConfig", "config": {"weight_attrs": ["kernel"], "activation_attrs": ["activation"], "quantize_output": false}})",
       R"({"class_name": "OutputOnlyConfig", "config": {"quantize_config": {"class_name": "DefaultQuantizeConfig", "config": {"weight_attrs": ["kernel"], "activation_attrs": [], "quantize_output": true}}}})",
       R"({"class_name": "MyDenseQuantizeConfig", "config": {}})",
       R"({"class_name": "LayerQuantizeConfig", "config": {"weights": {"kernel": {"class_name": "LastValueQuantizer", "config": {"num_bits": 4, "per_axis": true, "symmetric": true, "narrow_range": false}}}, "activation": {"class_name": "AllValuesQuantizer", "config": {"num_bits": 8, "per_axis": false, "symmetric": false, "narrow_range": false}}, "outputs": [{"class_name": "FixedQuantizer", "config": {"num_bits": 8, "per_axis": false, "symmetric": false, "narrow_range": false, "init_min": -1.0, "init_max": 1.0}}]}})"}) {
    const Json json = parse_json(text, "c");
    REQUIRE(to_json(*scope.from_config(json, "c")) == json);
    REQUIRE(to_json(*scope.from_config(to_json(*scope.from_config(json, "c")), "c")) == json);
  }
  const auto fixed =
      scope.from_config(parse_json(R"({"class_name": "FixedQuantizeConfig", "config": {"quantize_config": {"class_name":
          "DefaultQuantizeConfig", "config": {"quantize_output": true}}, "init_min": 0, "init_max": 6}})",
                                   "c"),
                        "c");
  REQUIRE(fixed->get_output_quantizers({})[0] == FixedQuantizer(0, 6));
  REQUIRE_THROWS_WITH(scope.from_config("Nothing", "c"), Catch::Contains("LayerQuantizeConfig, MyDenseQuantizeConfig"));
  REQUIRE_THROWS_WITH(read_layer_quantizer(parse_json(R"({"class_name": "FixedQuantizer"})", "q"), "q"),
                      Catch::Contains("needs init_min and init_max"));
  REQUIRE_THROWS_WITH(read_layer_quantizer("BestQuantizer", "q"), Catch::Contains("is not a quantizer"));
}

TEST_CASE("the default scheme") {
  GraphBuilder b = gemm_net();
  b.node("Conv", "conv", {b.graph.inputs[0], b.constant("cw", {4, 2, 3, 3})});
  b.node("Mystery", "mystery", {b.graph.inputs[0]});
  const Layer dense = layer_in(b, "dense"), conv = layer_in(b, "conv");
  const auto of_dense = default_quantize_config(dense)->get_weights_and_quantizers(dense);
  REQUIRE(of_dense.size() == 1);
  REQUIRE(of_dense[0].second == LastValueQuantizer({}, {}, true, true));
  REQUIRE(default_quantize_config(conv)->get_weights_and_quantizers(conv)[0].second.is_per_axis());
  const Layer relu = layer_in(b, "relu");
  REQUIRE(default_quantize_config(relu)->get_output_quantizers(relu)[0] == MovingAverageQuantizer());
  REQUIRE_THROWS_WITH(default_quantize_config(layer_in(b, "mystery")), Catch::Contains("Give it a QuantizeConfig"));
}

TEST_CASE("the point to quantize is the input of a function whose range is known") {
  GraphBuilder b;
  const ValueId x = b.node("Gemm", "dense", {b.input("x"), b.constant("w", {2, 3})});
  b.output(b.node("Softmax", "softmax", {x}));
  const auto requests = requests_of(MyDenseQuantizeConfig(), layer_in(b, "dense"));
  REQUIRE(requests.size() == 2);
  REQUIRE(requests[0].node == b.named("softmax").id);
  REQUIRE(requests[0].outputs.empty());
  REQUIRE(requests[1].outputs == std::vector{MovingAverageQuantizer()});
}

TEST_CASE("what a configuration asks for wrongly is told with its override") {
  const GraphBuilder b = gemm_net();
  const std::string unknown =
      message_of(b, R"([{"name": "last", "quantize_config": {"class_name": "LayerQuantizeConfig",
      "config": {"weights": {"recurrent": "LastValueQuantizer"}}}}])");
  REQUIRE(unknown.find("overrides[0].quantize_config") == 0);
  REQUIRE(unknown.find("no constant weight called \"recurrent\"") != std::string::npos);
  const std::string outputs =
      message_of(b, R"([{"name": "last", "quantize_config": {"class_name": "LayerQuantizeConfig",
      "config": {"outputs": ["AllValuesQuantizer", "AllValuesQuantizer"]}}}])");
  REQUIRE(outputs.find("names 2 output quantizers for 1 outputs") != std::string::npos);
  const std::string bias = message_of(b, R"([{"name": "dense", "quantize_config": {"class_name": "LayerQuantizeConfig",
      "config": {"weights": {"bias": "LastValueQuantizer"}}}}])");
  REQUIRE(bias.find("quantizes \"bias\"; a bias is always written in 32 bits") != std::string::npos);
  const std::string bits = message_of(b, R"([{"name": "last", "quantize_config": {"class_name": "LayerQuantizeConfig",
      "config": {"weights": {"kernel": {"class_name": "LastValueQuantizer", "config": {"num_bits": 3}}}}}}])");
  INFO(bits);
  REQUIRE(bits.find("overrides[0].quantize_config: The platform offers nothing for the operator set \"FullyConnected\" "
                    "with weights_n_bits = 3; it can be 8.") == 0);
}

TEST_CASE("a configuration without a config says what it lacks") {
  const GraphBuilder b = gemm_net();
  for (const char* name : {"DefaultQuantizeConfig", "LayerQuantizeConfig"}) {
    const std::string said =
        message_of(b, (R"([{"name": "last", "quantize_config": ")" + std::string(name) + "\"}]").c_str());
    INFO(said);
    REQUIRE(said.find("overrides[0].quantize_config") == 0);
    REQUIRE(said.find(std::string(name) + " without a config says nothing to quantize: it lacks weight") !=
            std::string::npos);
    REQUIRE(said.find("NoOpQuantizeConfig") != std::string::npos);
  }
  REQUIRE(message_of(b, R"([{"name": "last", "quantize_config": "NoOpQuantizeConfig"}])") == "no error");
}

TEST_CASE("a configuration by type gives way to one by name, and both to fields by name") {
  const GraphBuilder b = gemm_net();
  const Attachment a = attach_with(b, R"([
      {"name": "last", "quantize_config": {"class_name": "LayerQuantizeConfig", "config": {"weights": {"kernel":
          {"class_name": "LastValueQuantizer", "config": {"per_axis": true}}}}}},
      {"type": "Gemm", "quantize_config": "NoOpQuantizeConfig"}])");
  REQUIRE_FALSE(a.of(b.named("dense").id).weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(a.of(b.named("last").id).weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(a.of(b.named("last").id).weight(tpc::kKernelAttr)->config.weights_per_channel_threshold);
}

TEST_CASE("where something is annotated, all else stays float") {
  const GraphBuilder b = gemm_net();
  const Attachment a = attach_with(b, R"({"name": "last", "annotate": true})", "qnnpack");
  REQUIRE_FALSE(a.of(b.named("dense").id).weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(a.of(b.named("dense").id).reason.find("It is not annotated.") != std::string::npos);
  REQUIRE(a.of(b.named("last").id).weight(tpc::kKernelAttr)->config.enable_weights_quantization);
  REQUIRE(a.of(b.named("last").id).activation == ActivationMode::kQuant);
  // What alone feeds an annotated layer has its output quantized; the model's input feeds none.
  REQUIRE(a.of(b.named("relu").id).activation == ActivationMode::kQuant);
  REQUIRE_FALSE(a.input_config.enable_activation_quantization);
  const Attachment first = attach_with(b, R"({"name": "dense", "annotate": true})", "qnnpack");
  REQUIRE(first.input_config.enable_activation_quantization);
  REQUIRE(first.of(b.named("relu").id).activation == ActivationMode::kQuant);
  REQUIRE(first.of(b.named("last").id).activation == ActivationMode::kNoQuant);
}

TEST_CASE("a package is told the layers that an override chooses, whatever the others say") {
  const GraphBuilder b = gemm_net();
  const auto overrides = config::parse_overrides(
      R"([{"name": "relu", "config": {"activation_n_bits": 4}}, {"type": "Gemm", "quantize_config": "NoOpQuantizeConfig"}])",
      "overrides");
  const std::vector<Layer> layers = chosen_layers(b.graph, overrides, 1);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].name == "dense");
  CHECK(layers[0].activation == "relu");
  CHECK(layers[0].kernel().value.data<float>()[1] == -0.9f);
  CHECK(layers[1].name == "last");
  CHECK(chosen_layers(b.graph, overrides, 0)[0].name == "relu");
  CHECK_THROWS_AS(chosen_layers(b.graph, config::parse_overrides(R"({"name": "none", "config": {}})", "o"), 0), Error);
}
