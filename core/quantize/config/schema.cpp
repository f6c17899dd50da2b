// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.h"

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/config/quantization_config.h"

namespace tersor::config {

namespace {

bool is_list(const std::string& type) {
  return type == "integers" || type == "texts" || type == "objects";
}

Json schema_of(const Json& field);

void add_members(const Json& field, Json& schema) {
  for (const Json& member : field.at("members"))
    schema["properties"][member.at("name").get<std::string>()] = schema_of(member);
  schema["additionalProperties"] = false;
}

/// `describe_quantization_config()` says what a field takes; these two say it to a program and to a person.
Json schema_of(const Json& field) {
  Json schema = Json::object();
  const std::string type = field.at("type").get<std::string>();
  const bool nullable = field.at("nullable").get<bool>();
  if (!field.at("choices").is_null() && type == "object") {
    schema["type"] = Json::array({"object", "null"});
    schema["additionalProperties"] = Json{{"enum", field.at("choices")}};
  } else if (!field.at("choices").is_null()) {
    schema["enum"] = field.at("choices");
    if (nullable) schema["enum"].push_back(nullptr);
  } else {
    const Json name = type == "bool"     ? "boolean"
                      : type == "int"    ? "integer"
                      : type == "object" ? "object"
                      : is_list(type)    ? "array"
                                         : "number";
    schema["type"] = nullable ? Json::array({name, "null"}) : name;
    if (type == "integers") schema["items"] = Json{{"type", "integer"}};
    if (type == "texts") schema["items"] = Json{{"type", "string"}};
    if (type == "objects") add_members(field, schema["items"] = Json{{"type", "object"}});
    if (type == "object" && field.at("members").is_null()) schema["additionalProperties"] = Json{{"type", "array"}};
    if (type == "object" && !field.at("members").is_null()) add_members(field, schema);
  }
  for (const char* limit : {"minimum", "maximum"})
    if (field.contains(limit) && !field.at(limit).is_null()) schema[limit] = field.at(limit);
  if (!field.value("acts", true)) schema["const"] = field.at("default");
  schema["default"] = field.at("default");
  schema["description"] = field.at("meaning");
  return schema;
}

std::string values_text(const Json& field) {
  std::string text;
  const auto add = [&](const std::string& value) { text += (text.empty() ? "" : ", ") + value; };
  const std::string type = field.at("type").get<std::string>();
  const Json &low = field.at("minimum"), &high = field.at("maximum");
  if (!field.at("choices").is_null())
    for (const Json& choice : field.at("choices")) add(choice.get<std::string>());
  else if (type == "bool")
    add("true, false");
  else if (type == "object" && !field.at("members").is_null())
    for (const Json& member : field.at("members")) add(member.at("name").get<std::string>());
  else if (type == "object")
    add("an object");
  else if (!low.is_null() && !high.is_null())
    add(to_text(low, false) + " to " + to_text(high, false));
  else
    add(low.is_null() ? "any number" : "from " + to_text(low, false));
  if (field.at("nullable").get<bool>()) add("null");
  return text;
}

}  // namespace

Json quantization_config_schema() {
  Json properties = Json::object();
  for (const Json& field : describe_quantization_config())
    properties[field.at("name").get<std::string>()] = schema_of(field);
  return Json{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "QuantizationConfig"},
              {"description", "Settings of one quantization; what is left out has its default."},
              {"type", "object"},
              {"properties", properties},
              {"additionalProperties", false}};
}

std::string explain_field(std::string_view name) {
  std::vector<std::string> allowed;
  for (const Json& field : describe_quantization_config()) {
    allowed.push_back(field.at("name").get<std::string>());
    if (allowed.back() != canonical_name(name)) continue;
    std::string text = allowed.back() + "\n" + field.at("meaning").get<std::string>() + "\n";
    const auto line = [&](const std::string& label, const std::string& value) {
      text += label + std::string(10 - label.size(), ' ') + value + "\n";
    };
    line("type", field.at("type").get<std::string>());
    line("values", values_text(field));
    line("default", to_text(field.at("default"), false));
    if (!field.at("acts").get<bool>()) line("note", "this version takes the default only");
    for (const char* tool : {"mct", "ort"}) {
      const std::string other = field.at(tool).get<std::string>();
      line(tool == std::string_view("mct") ? "in MCT" : "in ORT", other.empty() ? "-" : other);
    }
    return text;
  }
  detail::unknown_word("field of QuantizationConfig", name, allowed, "config");
}

}  // namespace tersor::config
