// SPDX-License-Identifier: Apache-2.0
#include "core/config/quantization_config.h"

#include <cmath>
#include <set>

#include "core/base/json.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

using namespace tersor;
using namespace tersor::config;

namespace {

QuantizationConfig read(const char* text) {
  return read_quantization_config(std::string_view(text), "config");
}

Error error_of(const char* text) {
  try {
    check_acts(read(text));
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace

TEST_CASE("the 19 parameters of the requirement document are there under their names") {
  const auto path = test::shared_file("requirements/quantization_config.txt");
  if (!path) return;
  const auto bytes = test::read_file(*path);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // "... QuantizationConfig(a=..., b=..., ...)": the names before each "=".
  const size_t begin = text.find("QuantizationConfig(activation") + std::string("QuantizationConfig(").size();
  const std::string list = text.substr(begin, text.find(")¶", begin) - begin);
  std::vector<std::string> names;
  for (size_t at = 0; at < list.size();) {
    const size_t equals = list.find('=', at);
    names.push_back(list.substr(at, equals - at));
    const size_t comma = list.find(", ", equals);
    at = comma == std::string::npos ? list.size() : comma + 2;
  }
  std::vector<std::string> ours;
  for (const Json& one : describe_quantization_config()) ours.push_back(one["name"]);
  REQUIRE(names.size() == 19);
  // Ours stand first and in the document's order; what the document does not have comes after it.
  REQUIRE(ours.size() >= names.size());
  ours.resize(names.size());
  REQUIRE(ours == names);
}

TEST_CASE("a configuration survives the way through JSON") {
  QuantizationConfig config = read(R"({"weights_n_bits": 7, "activation_quantization_method": "UNIFORM",
      "activation_threshold_method": "NOCLIPPING", "min_threshold": 1e-6, "weights_per_channel_threshold": false})");
  REQUIRE(config.weights_n_bits == 7);
  REQUIRE_FALSE(config.activation_n_bits.has_value());
  REQUIRE(config.weights_per_channel_threshold == false);
  REQUIRE(read_quantization_config(config::to_json(config), "config") == config);
  REQUIRE(read("{}") == QuantizationConfig());
}

TEST_CASE("newer and older names are read") {
  const QuantizationConfig config =
      read(R"({"activation_error_method": "LP", "weights_quantization_method": "SYMMETRIC_UNIFORM"})");
  REQUIRE(config.activation_threshold_method == quant::ThresholdSelectionMethod::kLp);
  REQUIRE(config.weights_quantization_method == quant::QuantizationMethod::kPowerOfTwo);
}

TEST_CASE("all faults of a configuration are told at once, each with its place") {
  const Error error = error_of(R"({"weight_n_bits": 8, "l_p_value": 99, "z_threshold": "high", "activation_n_bits": 8.5,
      "weights_threshold_method": "BEST"})");
  REQUIRE(error.code == ErrorCode::kInvalidConfig);
  REQUIRE(error.message.find("The configuration has 5 faults:") == 0);
  for (const char* part : {"config: There is no field \"weight_n_bits\" here.",
                           "config.l_p_value: Found 99 where a whole number from 1 to 8",
                           "config.z_threshold: Found \"high\" where a number is expected",
                           "config.activation_n_bits: Found 8.5 where a whole number is expected",
                           "config.weights_threshold_method: \"BEST\" is not a threshold selection method."}) {
    INFO(error.message);
    REQUIRE(error.message.find(part) != std::string::npos);
  }
}

TEST_CASE("a value that does not act yet is refused by its field, a default is accepted") {
  REQUIRE_NOTHROW(check_acts(QuantizationConfig()));
  REQUIRE_NOTHROW(check_acts(requirement_defaults()));
  REQUIRE_NOTHROW(check_acts(read(R"({"shift_negative_ratio": 0.25, "enable_weights_quantization": true})")));
  REQUIRE_NOTHROW(
      check_acts(read(R"({"relu_unbound_correction": true, "input_scaling": true, "softmax_shift": true})")));
  REQUIRE_NOTHROW(check_acts(read(R"({"z_threshold": 5, "activation_threshold_method": "Entropy"})")));
  REQUIRE(error_of(R"({"weights_threshold_method": "Entropy"})").hint == "Use one of: NOCLIPPING, MSE, MAE, KL, Lp.");
  REQUIRE(error_of(R"({"activation_threshold_method": "HMSE"})").hint ==
          "Use one of: NOCLIPPING, MSE, MAE, KL, Lp, Entropy, Percentile, Distribution, MovingAverage.");
  for (const char* field : {"activation_quantization_method", "weights_quantization_method"})
    for (const char* method : {"LUT_POT_QUANTIZER", "LUT_SYM_QUANTIZER"})
      REQUIRE_NOTHROW(check_acts(read((std::string("{\"") + field + "\": \"" + method + "\"}").c_str())));
  REQUIRE(error_of(R"({"activation_threshold_method": "HMSE", "weights_threshold_method": "Entropy"})")
              .message.find("2 faults") != std::string::npos);
}

TEST_CASE("one field is set by a text") {
  QuantizationConfig config;
  set_field(config, "activation_threshold_method=NOCLIPPING");
  set_field(config, "weights_n_bits=4");
  set_field(config, "weights_bias_correction=false");
  REQUIRE(config.activation_threshold_method == quant::ThresholdSelectionMethod::kNoClipping);
  REQUIRE(config.weights_n_bits == 4);
  REQUIRE_FALSE(config.weights_bias_correction);
  set_field(config, "weights_n_bits=null");
  REQUIRE_FALSE(config.weights_n_bits.has_value());
  REQUIRE_THROWS_AS(set_field(config, "weights_n_bits"), Error);
  REQUIRE_THROWS_AS(set_field(config, "=4"), Error);
  REQUIRE_THROWS_AS(set_field(config, "weights_n_bits=1"), Error);
  REQUIRE_THROWS_AS(set_field(config, "weights_n_bits=many"), Error);
}

TEST_CASE("the description tells a form all it needs") {
  std::set<std::string> names;
  for (const Json& one : describe_quantization_config()) {
    names.insert(one["name"].get<std::string>());
    REQUIRE_FALSE(one["meaning"].get<std::string>().empty());
    const bool has_words = one["type"] == "enum" || one["name"] == "output_roles";
    REQUIRE(has_words == one["choices"].is_array());
    REQUIRE((one["default"].is_null() ? one["nullable"].get<bool>() : true));
    if (one["name"] == "activation_n_bits") {
      REQUIRE(one["type"] == "int");
      REQUIRE(one["minimum"] == 2.0);
      REQUIRE(one["nullable"] == true);
    }
  }
  REQUIRE(names.size() == describe_quantization_config().size());
  REQUIRE(names.size() >= 19);
}

TEST_CASE("criteria follow the configuration") {
  const QuantizationConfig config =
      read(R"({"weights_threshold_method": "Lp", "l_p_value": 3, "min_threshold": 1e-5})");
  REQUIRE(config.weights_criterion().p == 3);
  REQUIRE(config.weights_criterion().method == quant::ThresholdSelectionMethod::kLp);
  REQUIRE(config.activation_criterion().method == QuantizationConfig().activation_threshold_method);
  REQUIRE(config.activation_criterion().min_threshold == 1e-5);
  REQUIRE(config.activation_criterion().z_threshold == HUGE_VAL);
  REQUIRE(read(R"({"z_threshold": 6})").activation_criterion().z_threshold == 6);
  REQUIRE(config.activation_criterion().percentile == 99.999);
  REQUIRE(read(R"({"percentile": 99.5})").activation_criterion().percentile == 99.5);
  REQUIRE_THROWS_WITH(read(R"({"percentile": 0.995})"), Catch::Contains("from 50.0 to 100.0"));
}

TEST_CASE("a field that there is not is answered with the one that is meant, other tools' names too") {
  const auto hint_of = [](const std::string& name) {
    try {
      read(("{\"" + name + "\": 1}").c_str());
    } catch (const Error& error) {
      REQUIRE(error.message == "There is no field \"" + name + "\" here.");
      return error.hint;
    }
    return std::string();
  };
  REQUIRE(hint_of("per_channel") == "It is \"weights_per_channel_threshold\" here.");
  REQUIRE(hint_of("calibrate_method") == "It is \"activation_threshold_method\" here.");
  REQUIRE(hint_of("nodes_to_exclude") == "It is \"ignored_scope\" here.");
  REQUIRE(hint_of("gptq_config") == "It is \"gradient_ptq_config\" here.");
  REQUIRE(hint_of("group_size") == "It is \"weights_block_size\" here.");
  REQUIRE(hint_of("weigths_n_bits") == "Did you mean \"weights_n_bits\"?");
  REQUIRE_THAT(hint_of("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"), Catch::Contains("--schema"));
}

TEST_CASE("an ignored scope is written and read as NNCF has it") {
  const char* text = R"({"ignored_scope":{"names":["a"],"patterns":[],"types":["Conv"],"subgraphs":[{"inputs":["b"],)"
                     R"("outputs":["c"]}],"validate":false}})";
  const QuantizationConfig config = read(text);
  REQUIRE(config.ignored_scope->subgraphs[0].outputs == std::vector<std::string>{"c"});
  REQUIRE(to_json(config)["ignored_scope"] == parse_json(text, "")["ignored_scope"]);
  REQUIRE(read(R"({"ignored_scope": {}})").ignored_scope->validate);
  REQUIRE_THROWS_WITH(read(R"({"ignored_scope": {"name": ["a"]}})"), Catch::Contains("Did you mean \"names\""));
  for (const Json& one : describe_quantization_config())
    if (one["name"] == "ignored_scope") {
      REQUIRE(one["members"][0]["type"] == "texts");
      REQUIRE(one["members"][3]["type"] == "objects");
      REQUIRE(one["members"][3]["members"][1]["name"] == "outputs");
    }
}

TEST_CASE("the reference page has a line for each field, with its meaning") {
  const auto bytes = test::read_file("docs/configuration.md");
  const std::string page(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Json& one : describe_quantization_config()) {
    const std::string name = one["name"], meaning = one["meaning"], type = one["type"];
    const size_t at = page.find("| `" + name + "` | " + type + " | ");
    INFO(name);
    REQUIRE(at != std::string::npos);
    const std::string line = page.substr(at, page.find('\n', at) - at);
    REQUIRE(line.find(meaning) != std::string::npos);
    REQUIRE((line.find("default only") != std::string::npos) == !one["acts"].get<bool>());
    if (one["choices"].is_array())
      for (const Json& choice : one["choices"]) REQUIRE(line.find(choice.get<std::string>()) != std::string::npos);
  }
}

TEST_CASE("MCT's mapping of operator sets is an object of JSON, or null") {
  const auto read = [](std::string_view text) { return read_quantization_config(text, "c"); };
  REQUIRE(read(R"({"custom_tpc_opset_to_layer": null})") == QuantizationConfig());
  REQUIRE_THROWS_WITH(read(R"({"custom_tpc_opset_to_layer": ["Conv"]})"),
                      Catch::Contains("c.custom_tpc_opset_to_layer") && Catch::Contains("an object is expected"));
  const QuantizationConfig custom = read(R"({"custom_tpc_opset_to_layer": {"Conv": ["Conv", {"layer": "Gemm"}]}})");
  REQUIRE(to_json(custom)["custom_tpc_opset_to_layer"].dump() == R"({"Conv":["Conv",{"layer":"Gemm"}]})");
  REQUIRE(read_quantization_config(to_json(custom), "c") == custom);
}

TEST_CASE("output roles are words by output, and what is unknown is told with the nearest") {
  const auto read = [](std::string_view text) { return read_quantization_config(text, "c"); };
  const QuantizationConfig config = read(R"({"output_roles": {"a": "boxes", "b": "logits", "c": "mask"}})");
  REQUIRE(*config.output_roles ==
          OutputRoles{{"a", OutputKind::kBoxes}, {"b", OutputKind::kClasses}, {"c", OutputKind::kMap}});
  REQUIRE(to_json(config)["output_roles"].dump() == R"({"a":"boxes","b":"classes","c":"map"})");
  REQUIRE(read(R"({"output_roles": null})") == QuantizationConfig());
  try {
    read(R"({"output_roles": {"a": "boxs"}})");
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.place == "c.output_roles.a");
    REQUIRE_THAT(error.hint, Catch::Contains("Did you mean \"boxes\"?"));
  }
  try {
    check_output_roles(*config.output_roles, {"a", "b", "cc"});
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.place == "config.output_roles.c");
    REQUIRE_THAT(error.message, Catch::Contains("no output \"c\""));
    REQUIRE_THAT(error.hint, Catch::Contains("Did you mean") && Catch::Contains("Its outputs: a, b, cc."));
  }
}
