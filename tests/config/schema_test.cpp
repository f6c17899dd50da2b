// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.h"

#include "core/base/json.h"
#include "core/config/names_elsewhere.h"
#include "core/config/quantization_config.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::config;

namespace {

/// Whether `value` keeps to a field's schema.
bool fits(const Json& value, const Json& schema) {
  if (schema.contains("const") && schema["const"] != value) return false;
  if (schema.contains("enum")) {
    bool listed = false;
    for (const Json& one : schema["enum"]) listed = listed || one == value;
    return listed;
  }
  const auto is = [&](const std::string& type) {
    return type == "null"      ? value.is_null()
           : type == "boolean" ? value.is_boolean()
           : type == "integer" ? value.is_number_integer()
           : type == "object"  ? value.is_object()
                               : value.is_number();
  };
  const Json& type = schema["type"];
  bool typed = false;
  for (const Json& one : type.is_array() ? type : Json::array({type})) typed = typed || is(one.get<std::string>());
  if (!typed || value.is_null()) return typed;
  if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>()) return false;
  return !schema.contains("maximum") || value.get<double>() <= schema["maximum"].get<double>();
}

bool is_accepted(const std::string& name, const Json& value) {
  Json config = Json::object();
  config[name] = value;
  try {
    check_acts(read_quantization_config(config, "config"));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("the schema lists every field once, with its default and its meaning") {
  const Json schema = quantization_config_schema();
  const Json defaults = config::to_json(QuantizationConfig());
  REQUIRE(schema["additionalProperties"] == false);
  REQUIRE(schema["properties"].size() == defaults.size());
  for (const auto& [name, value] : defaults.items()) {
    INFO(name);
    const Json& property = schema["properties"][name];
    REQUIRE(property["default"] == value);
    REQUIRE(fits(value, property));
    REQUIRE(property["description"].get<std::string>().size() > 10);
  }
}

TEST_CASE("what the schema allows is accepted, what it forbids is refused") {
  const Json schema = quantization_config_schema();
  const std::vector<Json> values = {nullptr, true, false, -1,   0,     1,         2,    8,
                                    16,      17,   0.5,   1e-6, "MSE", "UNIFORM", "KL", "x"};
  for (const auto& [name, property] : schema["properties"].items())
    for (const Json& value : values) {
      // The documented defaults of fields that do not act are taken as well.
      if (property.contains("const") && property["const"].is_null() && value == true) continue;
      INFO(name << " = " << to_text(value, false));
      REQUIRE(fits(value, property) == is_accepted(name, value));
    }
}

TEST_CASE("a field is explained under its name or an older one") {
  const std::string text = explain_field("activation_error_method");
  REQUIRE_THAT(text, Catch::Matchers::StartsWith("activation_threshold_method\n") &&
                         Catch::Matchers::Contains("in ORT    calibrate_method") &&
                         Catch::Matchers::Contains("values    NOCLIPPING, MSE"));
  try {
    explain_field("bits");
    FAIL("a name that is none was explained");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidConfig);
    REQUIRE_THAT(error.hint, Catch::Matchers::Contains("weights_n_bits"));
  }
}

TEST_CASE("every field of the document has its name in MCT") {
  size_t ours = 0;
  for (const Json& field : describe_quantization_config()) {
    INFO(field["name"]);
    if (++ours > 19) break;  // what the document does not have
    REQUIRE_FALSE(names_elsewhere(field["name"].get<std::string>()).mct.empty());
    REQUIRE(field["mct"] == names_elsewhere(field["name"].get<std::string>()).mct);
  }
  REQUIRE(names_elsewhere("nothing").mct.empty());
}
