// SPDX-License-Identifier: Apache-2.0
// What the choices of platforms, overrides and QuantizeConfigs come to in the file.
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/graph/uses.h"
#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/quantized.h"

namespace platforms_test {
using namespace tersor;
using tersor::test::NamedModel;

namespace {

using Ints = std::vector<int64_t>;

/// Two branches that a Concat joins, a constant added, Gemm and Softmax.
Model branches() {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("b1", {8}).weight("w2", {8, 8, 3, 3}, -3, 3);
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}}).node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2"}, {"c2"}, {{"pads", pads}}).node("Sigmoid", {"c2"}, {"s"});
  model.node("Concat", {"r1", "c2", "s"}, {"j"}, {{"axis", int64_t{1}}}).weight("k", {1, 24, 1, 1});
  model.node("Add", {"j", "k"}, {"a"}).node("MaxPool", {"a"}, {"m"}, {{"kernel_shape", Ints{2, 2}}});
  model.node("GlobalAveragePool", {"m"}, {"p"}).node("Flatten", {"p"}, {"f"});
  model.weight("w3", {24, 4}, -0.05f, 0.05f).weight("b3", {4}).node("Gemm", {"f", "w3", "b3"}, {"g"});
  return model.node("Softmax", {"g"}, {"y"}, {{"axis", int64_t{-1}}}).output("y").build();
}

struct Made : test::Quantized {
  Tensor scale(const Node& pair) const { return file.graph.initializer(pair.inputs[1])->aligned(); }
  const Tensor& zero_point(const Node& pair) const { return *file.graph.initializer(pair.inputs[2]); }
  /// The QuantizeLinear after the value of that name; null without one.
  const Node* quantizer(const std::string& name) const {
    for (const Node& node : file.graph.nodes())
      if (node.is("QuantizeLinear") && node.name == name + "_QuantizeLinear") return &node;
    return nullptr;
  }
  const Tensor* stored(const std::string& name) const {
    const auto id = file.graph.find(name + "_quantized");
    return id ? file.graph.initializer(*id) : nullptr;
  }
};

Made make(const Model& model, const char* platform, const char* config = "{}", const char* overrides = "[]") {
  Settings settings{tpc::get_target_platform_capabilities_by_label(platform),
                    config::read_quantization_config(std::string_view(config), "config")};
  settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;  // needs no samples
  settings.overrides = config::parse_overrides(overrides, "overrides");
  return {test::quantize_on_noise(model, std::move(settings), 16)};
}

double difference(const Model& model, const Made& made) {
  double most = 0;
  for (uint32_t seed = 100; seed < 104; ++seed)
    most = std::max(most, test::relative_difference(model, made.file, test::random_inputs(model, seed)));
  return most;
}

}  // namespace

TEST_CASE("every built-in platform quantizes, and the file stays close to the model") {
  const Model model = branches();
  for (const tpc::PlatformLabel& label : tpc::builtin_platforms()) {
    const std::string name = label.name + "@v" + std::to_string(label.version);
    INFO(name);
    const Made made = make(model, name.c_str());
    REQUIRE(difference(model, made) < (label.name == "weight-only-int4" ? 0.4 : label.name == "imx500" ? 0.2 : 0.1));
  }
}

TEST_CASE("the thresholds of IMX500 are powers of two") {
  const Made made = make(branches(), "imx500");
  size_t pairs = 0;
  for (const Node& node : made.file.graph.nodes()) {
    if (!node.is("QuantizeLinear")) continue;
    int exponent = 0;
    REQUIRE(std::frexp(made.scale(node).data<float>()[0], &exponent) == 0.5f);
    ++pairs;
  }
  REQUIRE(pairs >= 8);
  // Constants are quantized, per channel.
  REQUIRE(made.stored("k")->dtype() == DType::kInt8);
  REQUIRE(make(branches(), "imx500@v1").stored("k") == nullptr);
  // A MaxPool has the parameters of its input.
  REQUIRE(made.quantizer("m")->inputs[1] == made.quantizer("a")->inputs[1]);
}

TEST_CASE("a platform that says so has its name and version in the file") {
  const Model model = branches();
  const auto entry = [](const Made& made, const char* key) {
    for (const auto& [name, value] : made.file.metadata)
      if (name == key) return value;
    return std::string("none");
  };
  const Made with = make(model, "imx500@4.1"), without = make(model, "imx500@v1");
  REQUIRE(entry(with, "tersor.platform") == "imx500@v3");
  REQUIRE(entry(with, "tpc_platform_type") == "imx500");
  REQUIRE(entry(with, "tpc_minor_version") == "4");
  REQUIRE(entry(with, "tpc_patch_version") == "1");
  for (const char* key : {"tersor.platform", "tpc_platform_type", "tpc_minor_version", "tpc_patch_version"})
    REQUIRE(entry(without, key) == "none");
}

TEST_CASE("activations of 16 bits are stored so, in operator set 21") {
  const Model model = branches();
  const Made eight = make(model, "qnn"), made = make(model, "qnn", R"({"activation_n_bits": 16})");
  REQUIRE(eight.file.opset() == 13);
  REQUIRE(made.file.opset() == 21);
  REQUIRE(made.file.ir_version == 10);
  REQUIRE(made.zero_point(*made.quantizer("r1")).dtype() == DType::kUint16);
  REQUIRE(made.scale(*made.quantizer("s")).data<float>()[0] == 1.0f / 65536);
  REQUIRE(difference(model, made) < difference(model, eight));
  // One node alone; what reads it must take as many bits.
  const Made one = make(model, "imx500", "{}", R"({"name": "c2_node", "config": {"activation_n_bits": 16}})");
  REQUIRE(bits_of(one.zero_point(*one.quantizer("c2")).dtype()) == 16);
  REQUIRE(bits_of(one.zero_point(*one.quantizer("r1")).dtype()) == 8);
  REQUIRE_THROWS_WITH(make(model, "imx500", "{}", R"({"name": "a_node", "config": {"activation_n_bits": 16}})"),
                      Catch::Contains("the operator set \"MaxPool\" takes inputs of at most 8 bits"));
}

TEST_CASE("16 bits for a whole model go to the operators that have them, and the others are named") {
  const Made made = make(branches(), "imx500", R"({"activation_n_bits": 16})");
  // Its readers take no more than 8 bits: a Conv, a Concat that a MaxPool reads.
  REQUIRE(bits_of(made.zero_point(*made.quantizer("r1")).dtype()) == 8);
  REQUIRE(bits_of(made.zero_point(*made.quantizer("c2")).dtype()) == 16);
  const auto& notes = made.job->notes;
  const auto note =
      std::find_if(notes.begin(), notes.end(), [](const Diagnostic& one) { return one.code == "usual_bits"; });
  REQUIRE(note != notes.end());
  REQUIRE(note->place == "config.activation_n_bits");
  REQUIRE_THAT(note->message, Catch::Contains("r1_node (Relu)"));
  REQUIRE_THAT(note->message, !Catch::Contains("c2_node"));
  // Where no operator has them, the settings are refused.
  REQUIRE_THROWS_WITH(make(branches(), "imx500", R"({"activation_n_bits": 5})"),
                      Catch::Contains("activation_n_bits = 5"));
}

TEST_CASE("bits that the platform has by tables alone are said to be so") {
  const auto said = [](const char* config) {
    const Made made = make(branches(), "ort-cpu", config);
    const auto& notes = made.job->notes;
    return std::any_of(notes.begin(), notes.end(), [](const Diagnostic& one) {
      return one.code == "activations_by_table" && one.message.find("a table of 16 values") != std::string::npos;
    });
  };
  REQUIRE(said(R"({"activation_n_bits": 4})"));
  REQUIRE_FALSE(said(R"({"activation_n_bits": 4, "activation_quantization_method": "LUT_SYM_QUANTIZER"})"));
  REQUIRE_FALSE(said(R"({"activation_n_bits": 8})"));
}

TEST_CASE("how a range is looked for can differ from node to node") {
  const auto made = [](const char* config, const char* overrides = "[]") {
    return make(branches(), "ort-cpu-s8s8", config, overrides);
  };
  const Made mse = made(R"({"activation_threshold_method": "MSE", "weights_threshold_method": "NOCLIPPING"})");
  const Made mixed = made(R"({"activation_threshold_method": "MSE", "weights_threshold_method": "NOCLIPPING"})",
                          R"([{"name": "c2_node", "config": {"activation_threshold_method": "NOCLIPPING",
                                                             "weights_threshold_method": "MAE"}},
                              {"name": "c1_node", "config": {"z_threshold": 1.5}}])");
  const Made none = made(R"({"activation_threshold_method": "NOCLIPPING", "weights_threshold_method": "MAE"})");
  const auto scale = [](const Made& one, const char* name) { return one.scale(*one.quantizer(name)).data<float>()[0]; };
  REQUIRE(scale(mixed, "c2") == scale(none, "c2"));
  REQUIRE(scale(mixed, "c2") != scale(mse, "c2"));
  // The Relu that alone reads the named convolution has its quantizer, so that naming the convolution is enough.
  REQUIRE(scale(mixed, "r1") < scale(mse, "r1"));
  REQUIRE(scale(mixed, "x") == scale(mse, "x"));
  REQUIRE(mixed.result.plan.kernels[1].weight == none.result.plan.kernels[1].weight);
  REQUIRE(mixed.result.plan.kernels[0].weight == mse.result.plan.kernels[0].weight);
  REQUIRE_FALSE(mixed.result.plan.kernels[1].weight == mse.result.plan.kernels[1].weight);
}

TEST_CASE("weights of 7 bits leave the outer codes free") {
  const Made made = make(branches(), "ort-cpu-avx2");
  int least = 0, most = 0;
  for (const int8_t code : made.stored("w1")->data<int8_t>()) {
    least = std::min<int>(least, code);
    most = std::max<int>(most, code);
  }
  REQUIRE(std::max(-least, most) == 63);
}

TEST_CASE("TFLite's tensors have its fixed parameters, and what a Concat joins shares one") {
  const Made made = make(branches(), "tflite");
  const auto parameters = [&](const char* name) {
    const Node* pair = made.quantizer(name);
    REQUIRE(pair != nullptr);
    REQUIRE(made.zero_point(*pair).dtype() == DType::kInt8);
    return std::make_pair(made.scale(*pair).data<float>()[0],
                          static_cast<int>(made.zero_point(*pair).data<int8_t>()[0]));
  };
  REQUIRE(parameters("y") == std::make_pair(1.0f / 256, -128));
  REQUIRE(parameters("s") == std::make_pair(1.0f / 256, -128));
  // What has fixed parameters keeps them; the runtime requantizes it for the Concat.
  for (const char* name : {"r1", "c2"}) REQUIRE(parameters(name) == parameters("j"));
  REQUIRE(parameters("j") != parameters("s"));
}

TEST_CASE("TensorRT's integers have no zero point, and biases stay float") {
  const Made made = make(branches(), "tensorrt");
  for (const Node& node : made.file.graph.nodes()) {
    if (!node.is("QuantizeLinear") && !node.is("DequantizeLinear")) continue;
    REQUIRE(made.zero_point(node).dtype() == DType::kInt8);
    for (const int8_t zero : made.zero_point(node).data<int8_t>()) REQUIRE(zero == 0);
  }
  REQUIRE(made.stored("b1") == nullptr);
}

TEST_CASE("int8 activations come with a note at each branch point") {
  const Made made = make(branches(), "ort-cpu-s8s8");
  REQUIRE_FALSE(made.job->notes.empty());
  REQUIRE(made.job->notes[0].message.find("\"r1\"") != std::string::npos);
  REQUIRE(make(branches(), "ort-cpu").job->notes.empty());
}

TEST_CASE("an override leaves one operator in float, and its recipe makes the same bytes") {
  const Model model = branches();
  const char* overrides = R"([{"name": "c2_node", "config": {"enable_weights_quantization": false}}])";
  const Made made = make(model, "ort-cpu", "{}", overrides);
  REQUIRE(made.stored("w1") != nullptr);
  REQUIRE(made.stored("w2") == nullptr);
  REQUIRE(make(model, "ort-cpu").stored("w2") != nullptr);
  const config::Recipe again = config::read_recipe(config::write_recipe(made.result.recipe));
  REQUIRE(again.overrides == made.result.recipe.overrides);
  REQUIRE(make(model, "ort-cpu", "{}", to_text(config::to_json(again.overrides)).c_str()).result.bytes ==
          made.result.bytes);
}

TEST_CASE("activations can be left in float as a whole") {
  const Model model = branches();
  const Made made = make(model, "ort-cpu", R"({"enable_activation_quantization": false})");
  REQUIRE(made.result.plan.activations.empty());
  REQUIRE(made.stored("w1")->dtype() == DType::kInt8);
  REQUIRE(difference(model, made) < 0.05);
}

TEST_CASE("settings that contradict are refused, those without effect are in the job's notes") {
  REQUIRE_THROWS_WITH(
      make(branches(), "ort-cpu", R"({"enable_activation_quantization": false, "activation_n_bits": 16})"),
      Catch::Contains("activation_n_bits = 16 contradicts enable_activation_quantization = false."));
  const Made made = make(branches(), "ort-cpu", R"({"shift_negative_ratio": 0.5})");
  const auto& notes = made.job->notes;
  REQUIRE(std::any_of(notes.begin(), notes.end(), [](const Diagnostic& one) {
    return one.code == "no_effect" && one.place == "config.shift_negative_ratio";
  }));
}

TEST_CASE("an operator that FrameworkInfo names must be one of ONNX or of the model") {
  const Model model = branches();
  const std::vector<std::byte> bytes = onnx::write(model);
  Settings settings{tpc::get_target_platform_capabilities("ort-cpu"), {}};
  settings.framework_info = R"({"no_quantization_ops": ["Convv"]})";
  REQUIRE_THROWS_WITH(
      prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings),
      Catch::Contains("framework_info.no_quantization_ops: \"Convv\" is no operator. Did you mean \"Conv\"?"));
}

TEST_CASE("the ranges of a QuantizeConfig are those in the file") {
  const Made made = make(branches(), "qnnpack", "{}", R"([
      {"name": "c1_node", "quantize_config": {"class_name": "LayerQuantizeConfig", "config": {
          "weights": {"kernel": {"class_name": "FixedQuantizer", "config": {"init_min": -2, "init_max": 2, "symmetric": true, "narrow_range": true}}},
          "outputs": [{"class_name": "FixedQuantizer", "config": {"init_min": 0, "init_max": 5.1}}]}}},
      {"name": "c2_node", "quantize_config": {"class_name": "LayerQuantizeConfig", "config": {"weights": {"kernel": "LastValueQuantizer"},
          "outputs": ["AllValuesQuantizer"]}}}])");
  REQUIRE(made.scale(*made.quantizer("r1")).data<float>()[0] == Approx(5.1 / 255).epsilon(1e-6));
  for (const ptq::KernelPlan& kernel : made.result.plan.kernels) {
    const std::string name = made.job->model.graph.find(kernel.node)->name;
    if (name == "c1_node") REQUIRE(kernel.weight.scale[0] == Approx(2.0 / 127).epsilon(1e-6));
    if (name == "c2_node") {
      double most = 0;
      const Tensor weight = made.job->model.graph.initializer(kernel.op.weight)->aligned();
      for (const float w : weight.data<float>()) most = std::max(most, std::fabs(static_cast<double>(w)));
      REQUIRE(kernel.weight.scale[0] == Approx(most / 127).epsilon(1e-6));
    }
  }
  const ptq::ActivationPlan& c2 = *made.result.plan.find(*made.job->model.graph.find("c2"));
  REQUIRE(c2.params.range[0].low == Approx(c2.seen.low));
  REQUIRE(c2.params.range[0].high == Approx(c2.seen.high));
}

TEST_CASE("output quantizers of a QuantizeConfig act where no integer kernel comes of them") {
  NamedModel model;
  model.input("x", {1, 8}).weight("w", {8, 6}).weight("b", {6}).node("Gemm", {"x", "w", "b"}, {"g"});
  const Model tanh = model.node("Tanh", {"g"}, {"y"}).output("y").build();
  REQUIRE(make(tanh, "ort-cpu").quantizer("g") == nullptr);
  // Of a Tanh it is the input that is quantized as the layer's activation; the layer's output is that of the Tanh.
  const Made made = make(tanh, "ort-cpu", "{}", R"([
      {"name": "g_node", "quantize_config": {"class_name": "LayerQuantizeConfig", "config": {
          "weights": {"kernel": "LastValueQuantizer"},
          "activation": {"class_name": "FixedQuantizer", "config": {"init_min": -5.1, "init_max": 5.1}},
          "outputs": [{"class_name": "FixedQuantizer", "config": {"init_min": -1, "init_max": 1}}]}}}])");
  REQUIRE(made.quantizer("g") != nullptr);
  REQUIRE(made.scale(*made.quantizer("g")).data<float>()[0] == Approx(10.2 / 255).epsilon(1e-6));
  REQUIRE(made.quantizer("y") != nullptr);
  REQUIRE(made.scale(*made.quantizer("y")).data<float>()[0] == Approx(2.0 / 255).epsilon(1e-6));
  REQUIRE(difference(tanh, made) < 0.05);
}

namespace {

/// A Loop of two rounds over whole numbers and floats; its body reads `t`, which a Transpose gives.
Model loop() {
  auto body = std::make_shared<Graph>();
  const auto input = [&](const char* name, DType type) {
    body->inputs.push_back(body->add_value(name, type, std::vector<Dim>{}));
    return body->inputs.back();
  };
  input("round", DType::kInt64);
  const ValueId goes_on = input("goes_on", DType::kBool), sum = input("sum", DType::kFloat32);
  body->value(sum).shape = std::nullopt;
  const ValueId count = input("count", DType::kInt32);
  const auto node = [&](const char* type, std::vector<ValueId> inputs, const char* name, DType dtype) {
    Node made;
    made.op_type = type;
    made.inputs = std::move(inputs);
    made.outputs = {body->add_value(name, dtype)};
    body->outputs.push_back(made.outputs[0]);
    body->append(std::move(made));
  };
  node("Identity", {goes_on}, "still", DType::kBool);
  node("Add", {sum, body->add_value("t")}, "more", DType::kFloat32);
  node("Add", {count, count}, "twice", DType::kInt32);

  NamedModel model;
  model.input("x", {1, 8}).weight("w", {8, 6}).weight("b", {6}).node("Gemm", {"x", "w", "b"}, {"g"});
  model.node("Transpose", {"g"}, {"t"}, {{"perm", Ints{1, 0}}}).weight("start", {6, 1});
  model.constant("two", Tensor::of<int64_t>(Shape{}, {2})).constant("go", Tensor::of<bool>(Shape{}, {true}));
  model.constant("one", Tensor::of<int32_t>(Shape{}, {1}));
  model.node("Loop", {"two", "go", "start", "one"}, {"y", "n"}, {{"body", std::shared_ptr<const Graph>(body)}});
  return model.output("y").output("n").build();
}

}  // namespace

TEST_CASE("whole numbers that a Loop gives are not quantized, nor does its body read what a quantized mover gives") {
  const Model model = loop();
  for (const char* platform : {"imx500@v1", "qnn", "tflite", "ort-cpu"}) {
    INFO(platform);
    const Made made = make(model, platform);
    REQUIRE(made.quantizer("n") == nullptr);
    const Graph& graph = made.file.graph;
    const Uses uses(graph);
    const Node& maker = graph.nodes()[*uses.producer_index(*graph.find("t"))];
    if (made.quantizer("g") != nullptr) REQUIRE((maker.is("Sum") || maker.is("DequantizeLinear")));
    REQUIRE(difference(model, made) < 0.1);
  }
}

TEST_CASE("a mask and what it is laid on stay float, on platforms that quantize every output") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float beyond : {-infinity, std::numeric_limits<float>::lowest(), -1e9f, -1e4f, -100.0f}) {
    NamedModel model;
    model.input("x", {1, 4, 8}).weight("w", {8, 4}).node("MatMul", {"x", "w"}, {"scores"});
    std::vector<float> mask(16, 0.0f);
    for (size_t row = 0; row < 4; ++row)
      for (size_t k = row + 1; k < 4; ++k) mask[4 * row + k] = beyond;
    model.constant("mask", Tensor::of<float>(Shape{4, 4}, mask)).node("Add", {"scores", "mask"}, {"masked"});
    model.node("Reshape", {"masked", "heads"}, {"apart"})
        .constant("heads", Tensor::of<int64_t>(Shape{4}, {1, 1, 4, 4}));
    model.node("Softmax", {"apart"}, {"shares"}, {{"axis", int64_t{-1}}}).weight("v", {4, 8});
    const Model attention = model.node("MatMul", {"shares", "v"}, {"y"}).output("y").build();
    for (const char* platform : {"imx500", "qnn", "tflite", "openvino", "ort-cpu"}) {
      INFO(platform << " " << beyond);
      const Made made = make(attention, platform);
      REQUIRE(made.quantizer("masked") == nullptr);
      REQUIRE(made.quantizer("apart") == nullptr);
      REQUIRE(difference(attention, made) < 0.1);
    }
  }
}

TEST_CASE("a mask of zeros and ones that the model makes large stays float, a temperature does not") {
  for (const float factor : {-10000.0f, 100.0f}) {
    NamedModel model;
    model.input("x", {1, 4, 8}).input("hidden", {1, 1, 4}).weight("w", {8, 4}).node("MatMul", {"x", "w"}, {"scores"});
    model.constant("factor", Tensor::of<float>(Shape{}, {factor}));
    if (factor < 0)
      model.node("Mul", {"hidden", "factor"}, {"mask"}).node("Add", {"scores", "mask"}, {"masked"});
    else
      model.node("Mul", {"scores", "factor"}, {"mask"}).node("Add", {"mask", "hidden"}, {"masked"});
    model.node("Softmax", {"masked"}, {"shares"}, {{"axis", int64_t{-1}}}).weight("v", {4, 8});
    const Model attention = model.node("MatMul", {"shares", "v"}, {"y"}).output("y").build();
    for (const char* platform : {"imx500", "qnn"}) {
      INFO(platform << " " << factor);
      REQUIRE((make(attention, platform).quantizer("masked") == nullptr) == (factor < 0));
    }
  }
}

TEST_CASE("a mask that is filled in while the model runs stays float too") {
  const float infinity = std::numeric_limits<float>::infinity();
  NamedModel model;
  model.input("x", {1, 4, 8}).weight("w", {8, 4}).node("MatMul", {"x", "w"}, {"scores"});
  model.node("Shape", {"scores"}, {"shape"});
  model.node("ConstantOfShape", {"shape"}, {"filling"}, {{"value", Tensor::of<float>(Shape{1}, {-infinity})}});
  model.constant("limit", Tensor::of<float>(Shape{}, {2})).node("Greater", {"scores", "limit"}, {"hidden"});
  model.node("Where", {"hidden", "filling", "scores"}, {"masked"}).node("Softmax", {"masked"}, {"shares"});
  const Model attention = model.weight("v", {4, 8}).node("MatMul", {"shares", "v"}, {"y"}).output("y").build();
  for (const char* platform : {"imx500", "qnn", "tflite", "ort-cpu"}) {
    INFO(platform);
    REQUIRE(make(attention, platform).quantizer("masked") == nullptr);
  }
}

TEST_CASE("float inputs that are cast to indices stay float, on platforms that quantize every output") {
  NamedModel model;
  model.input("words", {1, 6}).weight("table", {500, 8}).weight("w", {8, 5}).weight("b", {5});
  model.constant("last", Tensor::of<float>(Shape{}, {499})).node("Abs", {"words"}, {"size"});
  model.node("Mul", {"size", "last"}, {"places"}).node("Cast", {"places"}, {"ids"}, {{"to", int64_t{6}}});
  model.node("Gather", {"table", "ids"}, {"rows"}).node("MatMul", {"rows", "w"}, {"m"}).node("Add", {"m", "b"}, {"y"});
  const Model embedding = model.output("y").build();
  for (const char* platform : {"imx500@v1", "qnn", "tflite"}) {
    INFO(platform);
    const Made made = make(embedding, platform);
    REQUIRE(made.quantizer("places") == nullptr);
  }
  NamedModel direct;
  direct.input("words", {1, 6}).weight("table", {500, 8}).weight("w", {8, 5});
  direct.node("Cast", {"words"}, {"ids"}, {{"to", int64_t{6}}}).node("Gather", {"table", "ids"}, {"rows"});
  const Model plain = direct.node("MatMul", {"rows", "w"}, {"y"}).output("y").build();
  REQUIRE(make(plain, "qnn").quantizer("words") == nullptr);
}

TEST_CASE("channels that are never used do not set the scale of a weight that has one for all") {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  std::vector<float> biases(8, 0.1f);
  for (const size_t dead : {1u, 4u, 5u}) biases[dead] = -40.0f;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 3, 3}).constant("b1", Tensor::of<float>(Shape{8}, biases));
  model.weight("w2", {6, 8, 3, 3}).scale_along("w2", 1, 0.6).weight("b2", {6});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}}).node("Relu", {"c1"}, {"r1"});
  const Model dead = model.node("Conv", {"r1", "w2", "b2"}, {"y"}, {{"pads", pads}}).output("y").build();
  REQUIRE(difference(dead, make(dead, "qnnpack")) < 0.12);
  REQUIRE(difference(dead, make(dead, "ort-cpu", R"({"weights_per_channel_threshold": false})")) < 0.12);
}

TEST_CASE("what the model gives out is not the rounded form that a Transpose after it is quantized to") {
  NamedModel model;
  model.input("x", {4, 8}).weight("w", {8, 6}).weight("v", {4, 5}).node("MatMul", {"x", "w"}, {"m"});
  model.node("Sigmoid", {"m"}, {"s"}).node("Transpose", {"s"}, {"t"}, {{"perm", Ints{1, 0}}});
  const Model transposed = model.node("MatMul", {"t", "v"}, {"y"}).output("s").output("y").build();
  const Made made = make(transposed, "ort-cpu");
  REQUIRE(made.quantizer("t") != nullptr);
  const Graph& graph = made.file.graph;
  const Uses uses(graph);
  const Node& moved = graph.nodes()[*uses.producer_index(*graph.find("t"))];
  REQUIRE(moved.is("Transpose"));
  REQUIRE(graph.nodes()[*uses.producer_index(moved.inputs[0])].is("Sum"));
}

TEST_CASE("a float bias fits into the int32 that runtimes make of it, beside weights of nearly nothing too") {
  std::vector<float> weights(4 * 3 * 3 * 3, 0.25f);
  std::fill_n(weights.begin(), 27, 0.0f);
  std::fill_n(weights.begin() + 27, 27, 1e-8f);
  NamedModel named;
  named.input("x", {1, 3, 6, 6}).constant("w", Tensor::of<float>(Shape{4, 3, 3, 3}, weights)).weight("b", {4}, 1, 2);
  const Model model = named.node("Conv", {"x", "w", "b"}, {"y"}).output("y").build();
  for (const char* platform : {"openvino", "tensorrt", "imx500", "ort-cpu"}) {
    INFO(platform);
    const Made made = make(model, platform);
    const auto scale_of = [&](const std::string& name) {
      return made.file.graph.initializer(*made.file.graph.find(name + "_scale"))->aligned();
    };
    const Tensor of_weight = scale_of("w");
    REQUIRE(of_weight.elements() == 4);
    for (const float scale : of_weight.data<float>()) REQUIRE(2 / (scale_of("x").data<float>()[0] * scale) < 0x1p31f);
  }
}

TEST_CASE("the platform says whether operators that preserve have quantizers of their own") {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("b1", {8}).node("Conv", {"x", "w1", "b1"}, {"c"});
  model.node("Relu", {"c"}, {"r"}).node("Transpose", {"r"}, {"t"}, {{"perm", Ints{0, 2, 3, 1}}});
  model.node("Flatten", {"r"}, {"f"}).weight("w2", {288, 4}, -0.05f, 0.05f).node("Gemm", {"f", "w2"}, {"y"});
  const Model built = model.output("y").output("t").build();
  const auto made_with = [&](const char* label, std::optional<bool> says, FileFormat format = FileFormat::kOnnx) {
    Settings settings{tpc::get_target_platform_capabilities_by_label(label), config::QuantizationConfig()};
    settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
    settings.platform.tp_model.insert_preserving_quantizers = says;
    settings.format = format;
    return Made{test::quantize_on_noise(built, std::move(settings), 16)};
  };
  const auto outputs = [&](const Made& made) {
    run::Runner runner(simulate::compile(made.file, simulate::Profile::kX64));
    std::vector<float> all;
    for (const Tensor& one : runner.run(test::random_inputs(built, 99)))
      all.insert(all.end(), one.data<float>().begin(), one.data<float>().end());
    return all;
  };
  for (const char* label : {"ort-cpu", "imx500"}) {
    CAPTURE(label);
    const bool everywhere = std::string(label) == "imx500";
    const Made usual = made_with(label, {}), without = made_with(label, false), with = made_with(label, true);
    CHECK((usual.quantizer("f") != nullptr && (usual.quantizer("t") != nullptr) == everywhere));
    CHECK(
        (without.quantizer("f") == nullptr && without.quantizer("t") == nullptr && without.quantizer("r") != nullptr));
    CHECK((with.quantizer("f") != nullptr && with.quantizer("t") != nullptr));
    CHECK(with.scale(*with.quantizer("t")).data<float>()[0] == with.scale(*with.quantizer("r")).data<float>()[0]);
    CHECK(outputs(without) == outputs(usual));
    CHECK(outputs(with) == outputs(usual));
  }
  // QLinear operators take integers: that form has them all.
  CHECK(made_with("ort-cpu", false, FileFormat::kQoperator).file.graph.nodes().size() ==
        made_with("ort-cpu", {}, FileFormat::kQoperator).file.graph.nodes().size());
}

}  // namespace platforms_test
