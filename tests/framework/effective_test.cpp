// SPDX-License-Identifier: Apache-2.0
#include "core/framework/effective.h"

#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/platform_layers.h"
#include "core/graph/operators.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::framework;

TEST_CASE("what a platform does not offer is told for every set and field at once, each field once") {
  const auto platform = tpc::get_target_platform_capabilities("imx500");
  const auto settings = config::read_quantization_config(
      std::string_view(R"({"weights_n_bits": 3, "activation_quantization_method": "UNIFORM"})"), "config");
  try {
    effective_configs(platform, settings);
    FAIL("no error");
  } catch (const Error& error) {
    INFO(error.message);
    REQUIRE(error.message.find("has 2 faults") != std::string::npos);
    REQUIRE(error.message.find("for the operator sets \"Conv\", \"ConvTranspose\", \"DepthwiseConv2D\", "
                               "\"FullyConnected\" with weights_n_bits = 3; it can be 8, 4, 2.") != std::string::npos);
    REQUIRE(error.message.find("with activation_quantization_method = UNIFORM") != std::string::npos);
  }
}

TEST_CASE("an operator in a platform's own layers that no node can be is a fault, with the nearest there is") {
  auto platform = tpc::get_target_platform_capabilities("ort-cpu");
  std::vector<std::string> known = operator_names();
  REQUIRE_NOTHROW(check_layers(platform, {}, known));
  platform.tp_model.operator_set[0].layers = R"(["Conv", "Con", "my.domain::Mine", {"layer": "MyConv"}])";
  const std::string place = "operator_set \"" + platform.tp_model.operator_set[0].name + "\".layers";
  try {
    check_layers(platform, {}, known);
    FAIL("no error");
  } catch (const Error& error) {
    INFO(error.message);
    REQUIRE(error.message.find("has 2 faults") != std::string::npos);
    REQUIRE(error.message.find(place + "[1]: \"Con\" is no operator. Did you mean \"Conv\"?") != std::string::npos);
    REQUIRE(error.message.find(place + "[3]: \"MyConv\" is no operator.") != std::string::npos);
  }
}

TEST_CASE("every built-in platform comes to what its table in the tests says") {
  // Written by: tersor platforms NAME@vK > tests/framework/platforms/NAME@vK.txt
  for (const tpc::PlatformLabel& label : tpc::builtin_platforms()) {
    const std::string name = label.name + "@v" + std::to_string(label.version);
    INFO(name);
    std::ifstream file("tests/framework/platforms/" + name + ".txt");
    REQUIRE(file.good());
    std::ostringstream expected;
    expected << file.rdbuf();
    const auto platform = tpc::get_target_platform_capabilities(label.name, label.version);
    REQUIRE(effective_text(platform, effective_configs(platform)) == expected.str());
  }
}

TEST_CASE("settings show in the effective configuration") {
  const auto platform = tpc::get_target_platform_capabilities_by_label("imx500@5.0");
  config::QuantizationConfig settings;
  settings.weights_n_bits = 4;
  const Json json = effective_json(platform, effective_configs(platform, settings));
  const auto of = [&](const char* set) -> const Json& {
    for (const Json& one : json["effective"])
      if (one["operator_set"] == set) return one;
    throw Error(ErrorCode::kInternal, "no such set");
  };
  REQUIRE(of("Conv")["config"]["attr_weights_configs_mapping"]["kernel_attr"]["weights_n_bits"] == 4);
  REQUIRE(of("Conv")["candidates"] == 2);
  REQUIRE(of("Conv")["operators"] == Json::array({"Conv"}));
  // Constants are no kernels: a setting of the weights' bits does not ask for them.
  REQUIRE(of("Add")["config"]["default_weight_attr_config"]["weights_n_bits"] == 8);
  REQUIRE(json["digest"] == tpc::digest(platform));
  settings.weights_n_bits = 3;
  REQUIRE_THROWS_WITH(effective_configs(platform, settings), Catch::Contains("\"Conv\"") && Catch::Contains("8, 4, 2"));
}

TEST_CASE("a platform may say itself which operators a set stands for") {
  const auto platform = tpc::read_platform(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
      {"quantization_config_list": [{}]}, "operator_set": [{"name": "Mine", "layers": ["Mish",
      {"layer": "Conv", "all": [{"attr": "group", "op": "Greater", "value": 1}]}]}, {"name": "Conv"}]}})");
  const auto all = effective_configs(platform);
  REQUIRE(all[0].operators == std::vector<std::string>{"Mish", "Conv(...)"});
  REQUIRE(all[1].operators == std::vector<std::string>{"Conv"});
  const auto wrong = tpc::read_platform(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
      {"quantization_config_list": [{}]}, "operator_set": [{"name": "Mine", "layers": [{"all": []}]}]}})");
  REQUIRE_THROWS_WITH(effective_configs(wrong), Catch::Contains("operator_set \"Mine\".layers[0]"));
}

TEST_CASE("custom_tpc_opset_to_layer stands before a set's own layers and of those known by its name") {
  const std::string_view file = R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
      {"quantization_config_list": [{}]}, "operator_set": [{"name": "Mine", "layers": ["Mish"]}, {"name": "Zap"},
      {"name": "Conv"}, {"name": "Add"}]}})";
  const auto read = [](const char* fields) {
    return config::read_quantization_config(std::string_view(fields), "config");
  };
  const auto settings = read(R"({"custom_tpc_opset_to_layer": {"Mine": ["Elu"], "Zap": ["Sin", "my::Zap"], "Add": [],
      "Conv": [{"layer": "Conv", "all": [{"attr": "group", "op": "Eq", "value": 1}]}]}})");
  const auto platform = read_platform(file, "mine.json", settings);
  std::vector<std::vector<std::string>> operators;
  for (const EffectiveConfig& one : effective_configs(platform, settings)) operators.push_back(one.operators);
  REQUIRE(operators == std::vector<std::vector<std::string>>{{"Elu"}, {"Sin", "my::Zap"}, {"Conv(...)"}, {}, {}});
  REQUIRE_NOTHROW(check_layers(platform, settings, operator_names()));
  REQUIRE_THROWS_WITH(read_platform(file, "mine.json"),
                      Catch::Contains("No layers are known for the operator set \"Zap\""));

  const auto wrong = read(R"({"custom_tpc_opset_to_layer": {"Adds": [], "Mine": 3, "Zap": ["Sin", {"all": []}]}})");
  try {
    effective_configs(platform, wrong);
    FAIL("no error");
  } catch (const Error& error) {
    INFO(error.message);
    for (const char* part :
         {"3 faults", "config.custom_tpc_opset_to_layer.Adds: The platform has no operator set \"Adds\"",
          "Did you mean \"Add\"?", "custom_tpc_opset_to_layer.Mine: Found 3", "custom_tpc_opset_to_layer.Zap[1]"})
      REQUIRE(error.message.find(part) != std::string::npos);
  }
  try {
    check_layers(platform, read(R"({"custom_tpc_opset_to_layer": {"Zap": ["Sine"]}})"), operator_names());
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(std::string(error.what()).find("config.custom_tpc_opset_to_layer.Zap[0]: \"Sine\" is no operator") !=
            std::string::npos);
  }
}

TEST_CASE("a filter of a platform that asks for what no such operator has is refused with the nearest name") {
  const auto refusal = [](const std::string& layer) {
    const auto platform = read_platform(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
        {"quantization_config_list": [{}]}, "operator_set": [{"name": "Mine", "layers": [)" +
                                            layer + "]}]}}",
                                        "mine.json");
    try {
      check_layers(platform, {}, operator_names());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  REQUIRE(refusal(R"({"layer": "Conv", "kwargs": {"gruop": 1}})")
              .find("operator_set \"Mine\".layers[0]: Conv has no attribute \"gruop\" to filter by. Did you mean "
                    "\"group\"?") != std::string::npos);
  REQUIRE(refusal(R"({"layer": "Clip", "any": [{"attr": "maxx", "op": "Eq", "value": 6}]})")
              .find("Did you mean \"max\"?") != std::string::npos);
  for (const char* fine :
       {R"({"layer": "Clip", "kwargs": {"max": 6}})", R"({"layer": "Conv", "kwargs": {"depthwise": 1}})",
        R"({"layer": "MaxPool", "kwargs": {"outputs": 1}})", R"({"layer": "my::Op", "kwargs": {"a": 1}})"})
    REQUIRE(refusal(fine) == "no error");
  // What the sets that are known by their names ask for is among what may be asked for.
  for (const OperationsSetToLayers& set : onnx_layers().op_sets_to_layers)
    for (const LayerFilterParams& layer : set.layers)
      for (const std::string& asked : layer.attributes()) {
        const std::vector<std::string> known = possible_attributes(layer.layer);
        INFO(layer.layer << " " << asked);
        REQUIRE(std::find(known.begin(), known.end(), asked) != known.end());
      }
}

TEST_CASE("a platform file that is read has every fault of its sets and layers told beside all others") {
  try {
    read_platform(R"({"schema_version": 1, "name": "p", "tp_model": {"default_qco":
        {"quantization_config_list": [{"activation_n_bits": 99}]}, "operator_set": [
        {"name": "Mine", "layers": ["Mish", {"all": []}, {"layer": "Conv", "all": [{"attr": "group", "op": "Gt"}]}]},
        {"name": "Zap"}, {"name": ["Conv", "Zip"]}]}})",
                  "mine.json");
    FAIL("a wrong platform was read");
  } catch (const Error& error) {
    const std::string text = error.what();
    INFO(text);
    REQUIRE(error.code == ErrorCode::kInvalidPlatform);
    for (const char* part : {"operator_set[0].layers[1]", "operator_set[0].layers[2]", "operator set \"Zap\"",
                             "operator set \"Zip\"", "activation_n_bits", "99"})
      REQUIRE(text.find(part) != std::string::npos);
  }
}
