// SPDX-License-Identifier: Apache-2.0
#include "core/tpc/read_mct.h"

#include <string>

#include "core/base/json.h"

namespace tersor::tpc {

namespace {

constexpr const char* kMethods[] = {"POWER_OF_TWO", "LUT_POT_QUANTIZER", "SYMMETRIC", "UNIFORM", "LUT_SYM_QUANTIZER"};
constexpr const char* kSigns[] = {"AUTO", "SIGNED", "UNSIGNED"};

template <size_t N>
Json word_of(const Json& value, const char* const (&words)[N]) {
  if (!value.is_number_integer()) return value;
  const int64_t number = value.get<int64_t>();
  return number >= 0 && number < static_cast<int64_t>(N) ? Json(words[number]) : value;
}

/// The toolkit's own spelling of one set differs from the word.
Json set_name(const Json& name) {
  return name == "Expend" ? Json("Expand") : name;
}

/// Attribute configurations, operator configurations and what holds them.
Json with_words(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& one : value) list.push_back(with_words(one));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, member] : value.items()) {
    if (key == "weights_quantization_method" || key == "activation_quantization_method")
      object[key] = word_of(member, kMethods);
    else if (key == "signedness")
      object[key] = word_of(member, kSigns);
    else
      object[key] = with_words(member);
  }
  return object;
}

Json operator_set(const Json& set) {
  if (!set.is_object()) return set;
  Json made = Json::object();
  for (const auto& [key, member] : set.items()) {
    if (key == "type") continue;
    made[key] = key == "name" ? set_name(member) : with_words(member);
  }
  return made;
}

/// A set, or a group of sets, as the list of its names.
Json group(const Json& one) {
  if (!one.is_object()) return one;
  if (!one.contains("operators_set")) return one.contains("name") ? set_name(one["name"]) : one;
  if (!one["operators_set"].is_array()) return one["operators_set"];
  Json names = Json::array();
  for (const Json& set : one["operators_set"])
    names.push_back(set.is_object() && set.contains("name") ? set_name(set["name"]) : set);
  return names;
}

Json fusing(const Json& pattern, int64_t schema) {
  if (!pattern.is_object()) return pattern;
  Json made = Json::object();
  for (const auto& [key, member] : pattern.items()) {
    if (key == "type" || (key == "name" && member.is_null())) continue;
    if (key == "operator_groups" && member.is_array()) {
      made["operator_groups_list"] = Json::array();
      for (const Json& one : member) made["operator_groups_list"].push_back(group(one));
    } else if (key != "fuse_op_quantization_config" || schema >= 2) {
      made[key] = with_words(member);
    }
  }
  return made;
}

template <class One>
Json each(const Json& list, One&& one) {
  if (!list.is_array()) return list;
  Json made = Json::array();
  for (const Json& item : list) made.push_back(one(item));
  return made;
}

Json title_of(const Json& json) {
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
  };
  const auto number = [&](const char* key) {
    return json.contains(key) && json[key].is_number_integer() ? std::to_string(json[key].get<int64_t>())
                                                               : std::string("?");
  };
  const std::string type = text("tpc_platform_type");
  return type.empty() ? text("name") : type + " " + number("tpc_minor_version") + "." + number("tpc_patch_version");
}

}  // namespace

bool is_mct_capabilities(const Json& json) {
  return json.is_object() && json.contains("default_qco") && !json.contains("tp_model");
}

Json from_mct_capabilities(const Json& json, const std::string& place) {
  int64_t schema = 1;
  if (json.contains("SCHEMA_VERSION")) schema = detail::read_integer(json["SCHEMA_VERSION"], 0, 1000, place);
  if (schema != 1 && schema != 2)
    throw Error(ErrorCode::kInvalidPlatform,
                "The capabilities file has schema version " + std::to_string(schema) + "; 1 and 2 can be read.",
                place + ".SCHEMA_VERSION");
  Json model = Json::object();
  for (const auto& [key, member] : json.items()) {
    if (key == "SCHEMA_VERSION" || member.is_null()) continue;
    if (key == "operator_set")
      model[key] = each(member, operator_set);
    else if (key == "fusing_patterns")
      model[key] = each(member, [schema](const Json& pattern) { return fusing(pattern, schema); });
    else
      model[key] = with_words(member);
  }
  const Json name = model.contains("name") ? model["name"] : Json("default_tpc");
  return Json{{"schema_version", 1},
              {"name", name},
              {"title", title_of(json)},
              {"description", "Read from a capabilities file of Sony's model compression toolkit."},
              {"export_rules", {{"narrow_weights", false}, {"integer_bias", false}}},
              {"tp_model", model}};
}

}  // namespace tersor::tpc
