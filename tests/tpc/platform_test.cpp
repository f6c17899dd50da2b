// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/json.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"

namespace platform_test {
using namespace tersor;
using namespace tersor::tpc;
using quant::QuantizationMethod;

namespace {

Error error_of(const std::string& text) {
  try {
    read_platform(text);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

/// A small platform file whose operator set `set` and options `options` are given as JSON.
std::string file(const std::string& set = R"({"name": "Conv", "qc_options": "o"})",
                 const std::string& config = R"({"activation_n_bits": 8})", const std::string& fusing = "") {
  return R"({"schema_version": 1, "name": "mine", "op_configs": {"c": )" + config +
         R"(}, "qc_options": {"o": {"quantization_config_list": ["c"]}},
           "tp_model": {"default_qco": "o", "operator_set": [)" +
         set + R"(], "fusing_patterns": [)" + fusing + "]}}";
}

}  // namespace

TEST_CASE("every built-in platform is valid, named as its file, and survives the way through JSON") {
  const auto platforms = builtin_platforms();
  REQUIRE_FALSE(platforms.empty());
  for (const PlatformLabel& label : platforms) {
    INFO(label.name);
    const auto platform = get_target_platform_capabilities(label.name, label.version);
    REQUIRE(platform.name == label.name);
    REQUIRE(platform.version == label.version);
    REQUIRE_FALSE(platform.title.empty());
    REQUIRE_FALSE(platform.description.empty());
    const auto again = read_platform(to_text(to_json(platform)));
    REQUIRE(to_text(to_json(again)) == to_text(to_json(platform)));
    REQUIRE(digest(again) == digest(platform));
  }
}

TEST_CASE("a platform is found by name, version and label") {
  REQUIRE(get_target_platform_capabilities(kDefaultPlatform).version >= 1);
  REQUIRE(get_target_platform_capabilities_by_label("ort-cpu@v1").version == 1);
  REQUIRE(get_target_platform_capabilities_by_label("ort-cpu").name == "ort-cpu");
  REQUIRE(get_target_platform_capabilities_by_label("imx500@v1").tp_model.tpc_minor_version == 1);
  REQUIRE(get_target_platform_capabilities_by_label("imx500@4.0").version == 2);
  REQUIRE(get_target_platform_capabilities_by_label("imx500@4").title.find("4.1") != std::string::npos);
  REQUIRE(get_target_platform_capabilities_by_label("imx500").title.find("5.0") != std::string::npos);
  for (const char* wrong :
       {"nothing", "ort-cpu@v99", "ort-cpu@vx", "ort-cpu@v1x", "", "imx500@6", "imx500@", "ort-cpu@"}) {
    INFO(wrong);
    REQUIRE_THROWS_WITH(get_target_platform_capabilities_by_label(wrong), Catch::Contains("ort-cpu@v1"));
  }
}

TEST_CASE("ort-cpu quantizes as ONNX Runtime's kernels want it") {
  const auto platform = get_target_platform_capabilities("ort-cpu", 1);
  const OpQuantizationConfig& conv = platform.tp_model.options_of("Conv").base_config();
  REQUIRE(conv.activation_quantization_method == QuantizationMethod::kUniform);
  REQUIRE(conv.activation_n_bits == 8);
  const AttributeQuantizationConfig& kernel = conv.attribute_config(kKernelAttr);
  REQUIRE(kernel.weights_quantization_method == QuantizationMethod::kSymmetric);
  REQUIRE(kernel.weights_n_bits == 8);
  REQUIRE(kernel.weights_per_channel_threshold);
  REQUIRE(kernel.enable_weights_quantization);
  REQUIRE_FALSE(conv.attribute_config(kBiasAttr).enable_weights_quantization);
  REQUIRE(platform.export_rules.integer_bias);
  REQUIRE(platform.export_rules.narrow_weights);
  REQUIRE_FALSE(platform.export_rules.signed_activations);
  const OpQuantizationConfig& softmax = platform.tp_model.options_of("Softmax").base_config();
  REQUIRE(softmax.fixed_scale == 1.0 / 256);
  REQUIRE(softmax.fixed_zero_point == 0);
  REQUIRE(platform.tp_model.options_of("Reshape").base_config().quantization_preserving);
  REQUIRE_FALSE(platform.tp_model.options_of("Concatenate").base_config().quantization_preserving);
  REQUIRE(platform.kernel_of("Conv") == RuntimeKernel::kInteger);
  REQUIRE(platform.kernel_of("FullyConnected") == RuntimeKernel::kIntegerFloatOutput);
  REQUIRE(platform.kernel_of("ConvTranspose") == RuntimeKernel::kFloat);
  REQUIRE(platform.kernel_of("no such set") == RuntimeKernel::kFloat);
}

namespace {

struct Row {
  const char* set;
  const char* output;  // method, bits; "as its input"; "float"
  const char* weights;
};

std::string bits(QuantizationMethod method, int n_bits) {
  return std::string(enum_word(method)) + " " + std::to_string(n_bits);
}

std::string output_of(const OpQuantizationConfig& op) {
  if (op.quantization_preserving) return "as its input";
  return op.enable_activation_quantization ? bits(op.activation_quantization_method, op.activation_n_bits) : "float";
}

std::string kernel_of(const OpQuantizationConfig& op) {
  const AttributeQuantizationConfig& kernel = op.attribute_config(kKernelAttr);
  if (!kernel.enable_weights_quantization) return "float";
  return bits(kernel.weights_quantization_method, kernel.weights_n_bits) +
         (kernel.weights_per_channel_threshold ? " per channel" : " per tensor");
}

}  // namespace

TEST_CASE("the IMX500 tables are those of the toolkit") {
  for (const char* label : {"imx500@v1", "imx500@4.0", "imx500@4.1", "imx500@5.0"}) {
    const TargetPlatformModel model = get_target_platform_capabilities_by_label(label).tp_model;
    INFO(label);
    for (const char* set : {"Conv", "ConvTranspose", "DepthwiseConv2D", "FullyConnected"}) {
      REQUIRE(output_of(model.options_of(set).base_config()) == "POWER_OF_TWO 8");
      REQUIRE(kernel_of(model.options_of(set).base_config()) == "SYMMETRIC 8 per channel");
    }
    for (const OperatorsSet& set : model.operator_set)
      for (const OpQuantizationConfig& op : model.options_of(set.name).quantization_config_list()) {
        REQUIRE(op.activation_quantization_method == QuantizationMethod::kPowerOfTwo);
        if (op.activation_n_bits == 16) REQUIRE(op.signedness == Signedness::kSigned);
        REQUIRE_FALSE(op.fixed_scale);
      }
  }
  const auto v1 = get_target_platform_capabilities_by_label("imx500@v1").tp_model;
  const auto of_v1 = v1.options_of("Conv").quantization_config_list();
  REQUIRE(of_v1.size() == 3);
  REQUIRE(of_v1[1].attribute_config(kKernelAttr).weights_n_bits == 4);
  REQUIRE(of_v1[1].simd_size == 64);
  REQUIRE(of_v1[2].simd_size == 128);
  REQUIRE(output_of(v1.options_of("MaxPool").base_config()) == "float");
  REQUIRE(output_of(v1.options_of("AvgPool").base_config()) == "POWER_OF_TWO 8");
  const auto four = get_target_platform_capabilities_by_label("imx500@4.0").tp_model,
             four_one = get_target_platform_capabilities_by_label("imx500@4.1").tp_model,
             five = get_target_platform_capabilities_by_label("imx500@5.0").tp_model;
  REQUIRE(four.options_of("Conv").quantization_config_list().size() == 6);
  REQUIRE(four.options_of("Sigmoid").quantization_config_list().size() == 2);
  REQUIRE(four_one.options_of("Sigmoid").quantization_config_list().size() == 1);
  REQUIRE(four.options_of("Add").quantization_config_list().size() == 2);
  REQUIRE(five.options_of("Add").quantization_config_list().size() == 4);
  REQUIRE(five.options_of("Add").quantization_config_list()[2].attribute_config(kPosAttr).weights_n_bits == 16);
  REQUIRE(five.find("Exp") != nullptr);
  REQUIRE(four.find("Exp") == nullptr);
  REQUIRE(output_of(four.options_of("MaxPool").base_config()) == "as its input");
  REQUIRE(four.options_of("MaxPool").base_config().supported_input_activation_n_bits == std::vector<int>{8});
  REQUIRE(four.options_of("Reshape").base_config().supported_input_activation_n_bits == std::vector<int>{8, 16});
  REQUIRE(four.options_of("Gather").base_config().supported_input_activation_n_bits == std::vector<int>{8});
  REQUIRE(five.options_of("Gather").base_config().supported_input_activation_n_bits == std::vector<int>{8, 16});
  REQUIRE(four.options_of("Gather").base_config().attribute_config(kPosAttr).weights_n_bits == 16);
}

TEST_CASE("TFLite and QNNPACK are as they were meant") {
  const auto tflite = get_target_platform_capabilities("tflite");
  const auto of = [&](const char* set) { return tflite.tp_model.options_of(set).base_config(); };
  for (const Row& row : std::initializer_list<Row>{{"Conv", "UNIFORM 8", "SYMMETRIC 8 per channel"},
                                                   {"DepthwiseConv2D", "UNIFORM 8", "SYMMETRIC 8 per channel"},
                                                   {"FullyConnected", "UNIFORM 8", "SYMMETRIC 8 per tensor"},
                                                   {"Concatenate", "as its input", "float"},
                                                   {"MaxPool", "as its input", "float"},
                                                   {"Add", "UNIFORM 8", "float"}}) {
    INFO(row.set);
    REQUIRE(output_of(of(row.set)) == row.output);
    REQUIRE(kernel_of(of(row.set)) == row.weights);
  }
  const auto fixed = [&](const char* set) { return std::make_pair(*of(set).fixed_scale, *of(set).fixed_zero_point); };
  REQUIRE(fixed("Softmax") == std::make_pair(1.0 / 256, -128));
  REQUIRE(fixed("Sigmoid") == std::make_pair(1.0 / 256, -128));
  REQUIRE(fixed("Tanh") == std::make_pair(1.0 / 128, 0));
  REQUIRE(fixed("L2Norm") == std::make_pair(1.0 / 128, 0));
  REQUIRE(fixed("LogSoftmax") == std::make_pair(16.0 / 256, 127));
  REQUIRE(tflite.export_rules.signed_activations);
  REQUIRE(tflite.export_rules.narrow_weights);
  const auto qnnpack = get_target_platform_capabilities("qnnpack").tp_model;
  for (const char* set : {"Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected"}) {
    REQUIRE(output_of(qnnpack.options_of(set).base_config()) == "UNIFORM 8");
    REQUIRE(kernel_of(qnnpack.options_of(set).base_config()) == "SYMMETRIC 8 per tensor");
  }
}

TEST_CASE("named parts and extends give the same platform as everything written out") {
  const std::string named = R"({"schema_version": 1, "name": "p",
    "attribute_configs": {"k": {"weights_n_bits": 4, "enable_weights_quantization": true}, "k2": {"extends": "k", "weights_n_bits": 2}},
    "op_configs": {"a": {"activation_n_bits": 8, "attr_weights_configs_mapping": {"kernel_attr": "k", "bias_attr": {}}},
                   "b": {"extends": "a", "attr_weights_configs_mapping": {"kernel_attr": "k2"}}},
    "tp_model": {"default_qco": {"quantization_config_list": ["a", "b"], "base_config": "b"}}})";
  const auto platform = read_platform(named);
  const auto& options = platform.tp_model.default_qco;
  REQUIRE(options.base_index() == 1);
  REQUIRE(options.quantization_config_list()[0].attribute_config("kernel_attr").weights_n_bits == 4);
  REQUIRE(options.base_config().attribute_config("kernel_attr").weights_n_bits == 2);
  REQUIRE(options.base_config().attribute_config("kernel_attr").enable_weights_quantization);
  REQUIRE(options.base_config().attr_weights_configs_mapping.size() == 2);
  REQUIRE(digest(read_platform(to_text(to_json(platform)))) == digest(platform));
}

TEST_CASE("newer names, one number of bits and a true or false sign are read") {
  const auto platform = read_platform(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
      {"quantization_configurations": [{"supported_input_activation_n_bits": [8, 16], "signedness": true}]},
      "operator_set": [{"name": ["A", "B"]}], "fusing_patterns": [{"operator_groups_list": ["A", ["B", "A"]]}]}})");
  REQUIRE(platform.tp_model.default_qco.base_config().signedness == Signedness::kSigned);
  REQUIRE(platform.tp_model.default_qco.base_config().supported_input_activation_n_bits == std::vector<int>{8, 16});
  REQUIRE(platform.tp_model.fusing_patterns[0].name == "A_B_A");
  REQUIRE_FALSE(platform.tp_model.find("A")->qc_options.has_value());
}

TEST_CASE("every fault of a platform file is told with path and reason") {
  const Error error = error_of(R"({"schema_version": 1, "name": 3, "speed": "fast",
    "op_configs": {"c": {"activation_n_bits": "eight", "activation_quantization_method": "BEST", "extends": "nowhere"}},
    "tp_model": {"default_qco": {"quantization_config_list": []},
      "operator_set": [{"name": "Conv", "qc_options": {"quantization_config_list": ["c"]}}, {"qc_options": null}, 7],
      "fusing_patterns": [{"operator_groups_list": ["Conv"]}]}})");
  REQUIRE(error.code == ErrorCode::kInvalidPlatform);
  INFO(error.message);
  for (const char* part :
       {"platform: There is no field \"speed\" here.", "platform.name: Found 3 where a text",
        "default_qco.quantization_config_list: A list of quantization configurations is empty.",
        "There is no \"nowhere\" in op_configs.", "platform.tp_model.operator_set[1]: The field \"name\" is missing.",
        "platform.tp_model.operator_set[2]: Found 7",
        "fusing_patterns[0].operator_groups_list: A fusing pattern of fewer than two"})
    REQUIRE(error.message.find(part) != std::string::npos);
}

TEST_CASE("contradictions and limits are faults") {
  REQUIRE(error_of(file()).message == "no error");
  REQUIRE(error_of(file(R"({"name": "A"}, {"name": "A"})")).message.find("\"A\" is there twice") != std::string::npos);
  REQUIRE(error_of(file(R"({"name": ""})")).message.find("has no name") != std::string::npos);
  const auto config_error = [](const char* config) { return error_of(file(R"({"name": "A"})", config)).message; };
  REQUIRE(config_error(R"({"quantization_preserving": true})").find("are both true") != std::string::npos);
  REQUIRE(config_error(R"({"activation_n_bits": 1})").find("Activations of 1 bits") != std::string::npos);
  REQUIRE(config_error(R"({"fixed_scale": -1})").find("not a positive number") != std::string::npos);
  REQUIRE(config_error(R"({"fixed_zero_point": 3})").find("without a fixed scale") != std::string::npos);
  REQUIRE(config_error(R"({"fixed_scale": 1, "fixed_zero_point": 300})").find("does not fit into 8 bits") !=
          std::string::npos);
  REQUIRE(config_error(R"({"simd_size": 0})").find("at least 1") != std::string::npos);
  REQUIRE(config_error(R"({"supported_input_activation_n_bits": []})").find("at least one") != std::string::npos);
  REQUIRE(config_error(R"({"default_weight_attr_config": {"enable_weights_quantization": true}})")
              .find("Weights of 32 bits; 2 to 16") != std::string::npos);
  REQUIRE(config_error(R"({"extends": "c"})").find("It extends itself") != std::string::npos);
  REQUIRE(error_of(file(R"({"name": "A"})", "{}", R"({"operator_groups_list": ["A", "B"]})"))
              .message.find("There is no operator set \"B\"") != std::string::npos);
}

TEST_CASE("contradictions are told beside faults of form, every one") {
  const Error error = error_of(R"({"schema_version": 1, "name": "p", "speed": 1, "tp_model": {"default_qco":
      {"quantization_config_list": [{"quantization_preserving": true, "simd_size": 0, "fixed_scale": -1}]},
      "operator_set": [{"name": "A"}, {"name": "A"}],
      "fusing_patterns": [{"operator_groups_list": ["A", "B"]}, {"operator_groups_list": ["C", "A"]}]}})");
  INFO(error.message);
  REQUIRE(error.message.find("has 7 faults") != std::string::npos);
  for (const char* part : {"no field \"speed\"", "are both true", "simd_size: It is 0", "not a positive number",
                           "\"A\" is there twice", "no operator set \"B\"", "no operator set \"C\""})
    REQUIRE(error.message.find(part) != std::string::npos);
}

TEST_CASE("what is no platform file is refused with its line") {
  for (const char* text : {"", "{", "[]", "3", "null", "{\"tp_model\": 1}", "{\"schema_version\": 2}"}) {
    INFO(text);
    REQUIRE(error_of(text).code == ErrorCode::kInvalidPlatform);
  }
  REQUIRE(error_of("{\n \"name\" 3}").message.find("line 2") != std::string::npos);
}

TEST_CASE("cutting a platform file at any byte gives an error and nothing else") {
  const std::string text = to_text(to_json(get_target_platform_capabilities("ort-cpu")), false);
  for (size_t length = 0; length < text.size(); length += 997)
    REQUIRE(error_of(text.substr(0, length)).code == ErrorCode::kInvalidPlatform);
}

TEST_CASE("options need a base among them") {
  OpQuantizationConfig eight, four;
  four.activation_n_bits = 4;
  REQUIRE_THROWS_AS(QuantizationConfigOptions({}), Error);
  REQUIRE_THROWS_AS(QuantizationConfigOptions({eight, four}), Error);
  REQUIRE_THROWS_AS(QuantizationConfigOptions({eight}, four), Error);
  REQUIRE(QuantizationConfigOptions({eight, four}, four).base_index() == 1);
  REQUIRE(QuantizationConfigOptions({eight}).base_config() == eight);
}

TEST_CASE("an attribute takes the configuration whose key it contains") {
  OpQuantizationConfig op;
  op.attr_weights_configs_mapping["kernel"].weights_n_bits = 4;
  REQUIRE(op.attribute_config("kernel_attr").weights_n_bits == 4);
  REQUIRE(op.attribute_config("bias_attr").weights_n_bits == kFloatBitwidth);
  op.attr_weights_configs_mapping["attr"].weights_n_bits = 2;
  REQUIRE(op.attribute_config("bias_attr").weights_n_bits == 2);
  REQUIRE_THROWS_WITH(op.attribute_config("kernel_attr"), Catch::Contains("several keys"));
}

TEST_CASE("configurations are values; an edit makes a copy") {
  const AttributeQuantizationConfig plain;
  REQUIRE(plain.weights_quantization_method == QuantizationMethod::kPowerOfTwo);
  REQUIRE(plain.weights_n_bits == 32);
  REQUIRE_FALSE(plain.enable_weights_quantization);
  const auto eight = plain.clone_and_edit([](auto& config) { config.weights_n_bits = 8; });
  REQUIRE(plain.weights_n_bits == 32);
  OpQuantizationConfig op;
  op.attr_weights_configs_mapping["kernel_attr"] = eight;
  const OpQuantizationConfig wide = op.clone_and_edit([](auto& config) { config.activation_n_bits = 16; });
  const QuantizationConfigOptions options({op, wide}, wide);
  const auto same = options.clone_and_edit([](auto& config) { config.simd_size = 32; });
  REQUIRE(same.base_index() == 1);
  REQUIRE(same.quantization_config_list()[0].simd_size == 32);
  REQUIRE(options.base_config().simd_size == 1);
  const auto four = options.clone_and_edit_weight_attribute({"kernel_attr"}, [](auto& one) { one.weights_n_bits = 4; });
  REQUIRE(four.base_config().attribute_config("kernel_attr").weights_n_bits == 4);
  REQUIRE(four.base_config().default_weight_attr_config.weights_n_bits == 32);
  REQUIRE_THROWS_AS(options.clone_and_edit_weight_attribute({"bias_attr"}, [](auto&) {}), Error);
  const auto all = options.clone_and_edit_weight_attribute({}, [](auto& one) { one.weights_n_bits = 2; });
  REQUIRE(all.base_config().default_weight_attr_config.weights_n_bits == 2);
  const auto renamed = options.clone_and_map_weights_attr_keys({{"kernel_attr", "W"}});
  REQUIRE(renamed.base_config().attr_weights_configs_mapping.count("W") == 1);
  const TargetPlatformCapabilities made(TargetPlatformModel(options, true, "model"), "mine", 3);
  REQUIRE(made.name == "mine");
  REQUIRE(made.version == 3);
  REQUIRE(made.tp_model.add_metadata);
}

TEST_CASE("groups of sets and fusings") {
  const OperatorsSet a{"A", std::nullopt, std::nullopt}, b{"B", std::nullopt, std::nullopt};
  const OperatorSetConcat ab = OperatorSetConcat::of({a, b});
  REQUIRE(ab.name() == "A_B");
  REQUIRE(ab.contains("B"));
  REQUIRE_FALSE(ab.contains("C"));
  REQUIRE_THROWS_AS(OperatorSetConcat::of({}), Error);
  const OperatorSetConcat one = OperatorSetConcat::of({a});
  REQUIRE_THROWS_AS(Fusing::of({one}), Error);
  const Fusing pair = Fusing::of({one, ab}), triple = Fusing::of({ab, one, ab});
  REQUIRE(pair.name == "A_A_B");
  REQUIRE(triple.contains(pair));
  REQUIRE(Fusing::of({ab, ab}).contains(Fusing::of({one, one})));
  REQUIRE_FALSE(Fusing::of({one, one}).contains(Fusing::of({ab, ab})));
  REQUIRE_FALSE(pair.contains(triple));
}

}  // namespace platform_test
