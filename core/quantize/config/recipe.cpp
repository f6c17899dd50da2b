// SPDX-License-Identifier: Apache-2.0
#include "core/config/recipe.h"

#include <algorithm>
#include <iterator>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/config/contradictions.h"

namespace tersor::config {

namespace {

constexpr const char* kFormat = "tersor-recipe";

Json parse_part(const std::string& text, const std::string& place) {
  return text.empty() ? Json(nullptr) : parse_json(text, place);
}

/// A part that is kept as text: compact, empty for null.
std::string text_of(const Json& json) {
  return json.is_null() ? std::string() : to_text(json, false);
}

Json to_json(const Override& one) {
  Json json = Json::object();
  if (!one.name.empty()) json["name"] = one.name;
  if (!one.type.empty()) json["type"] = one.type;
  if (!one.filter.empty()) json["filter"] = parse_part(one.filter, "override.filter");
  json["config"] = one.config.empty() ? Json::object() : parse_part(one.config, "override.config");
  if (!one.quantize_config.empty())
    json["quantize_config"] = parse_part(one.quantize_config, "override.quantize_config");
  if (!one.trainable_quantizer.empty()) json["trainable_quantizer"] = one.trainable_quantizer;
  if (one.annotate) json["annotate"] = true;
  return json;
}

/// The fields that can differ from node to node.
constexpr const char* kNodeFields[] = {"activation_quantization_method",
                                       "activation_n_bits",
                                       "enable_activation_quantization",
                                       "weights_quantization_method",
                                       "weights_n_bits",
                                       "weights_per_channel_threshold",
                                       "weights_block_size",
                                       "enable_weights_quantization",
                                       "activation_threshold_method",
                                       "weights_threshold_method",
                                       "z_threshold",
                                       "min_threshold",
                                       "l_p_value",
                                       "percentile"};

void check_node_config(const Json& config, const std::string& place, Faults& faults) {
  const QuantizationConfig read = read_quantization_config(config, place, {}, faults);
  std::string list;
  for (const char* field : kNodeFields) list += (list.empty() ? "" : ", ") + std::string(field);
  for_each_field<QuantizationConfig>([&](const auto& one) {
    for (const auto& entry : config.items())
      if (canonical_name(entry.key()) == one.name && std::find(std::begin(kNodeFields), std::end(kNodeFields),
                                                               std::string_view(one.name)) == std::end(kNodeFields))
        faults.add(Error(ErrorCode::kInvalidConfig,
                         std::string(one.name) + " concerns the whole model, not single nodes.",
                         detail::join_place(place, entry.key()), "What can differ from node to node: " + list + "."));
  });
  find_contradictions(read, {}, QuantizationConfig(), place, faults);
}

void check_chooses(const Override& one, const std::string& place) {
  if (one.name.empty() && one.type.empty() && one.filter.empty())
    throw Error(ErrorCode::kInvalidConfig, "An override that chooses no node: it has neither name, type nor filter.",
                place, "Give one of them; settings for all nodes belong into the configuration.");
}

void read_override_member(const std::string& key, const Json& value, Override& one, const std::string& place,
                          Faults& faults) {
  const std::string at = detail::join_place(place, key);
  if (key == "name") {
    tersor::from_json(value, one.name, at);
  } else if (key == "type") {
    tersor::from_json(value, one.type, at);
  } else if (key == "filter") {
    one.filter = text_of(value);
  } else if (key == "config") {
    if (!value.is_object()) detail::wrong_type(value, "an object", at);
    one.config = text_of(value);
    check_node_config(value, at, faults);
  } else if (key == "quantize_config") {
    one.quantize_config = text_of(value);
  } else if (key == "trainable_quantizer") {
    tersor::from_json(value, one.trainable_quantizer, at);
  } else if (key == "annotate") {
    tersor::from_json(value, one.annotate, at);
  } else {
    detail::unknown_key(key, {"name", "type", "filter", "config", "quantize_config", "trainable_quantizer", "annotate"},
                        place);
  }
}

Override read_override(const Json& json, const std::string& place, Faults& faults) {
  Override one;
  if (!json.is_object()) {
    faults.attempt([&] { detail::wrong_type(json, "an object", place); });
    return one;
  }
  const size_t before = faults.errors().size();
  for (const auto& entry : json.items())
    faults.attempt([&] { read_override_member(entry.key(), entry.value(), one, place, faults); });
  // A member that could not be read may be the one that is missed.
  if (faults.errors().size() == before) faults.attempt([&] { check_chooses(one, place); });
  return one;
}

std::vector<Override> read_overrides(const Json& json, const std::string& place, Faults& faults) {
  if (json.is_object()) return {read_override(json, place, faults)};
  if (!json.is_array()) detail::wrong_type(json, "an override or a list of them", place);
  std::vector<Override> overrides;
  for (size_t i = 0; i < json.size(); ++i)
    overrides.push_back(read_override(json[i], place + "[" + std::to_string(i) + "]", faults));
  return overrides;
}

void read_member(const std::string& key, const Json& value, Recipe& recipe, const std::string& place, Faults& faults) {
  const std::string at = detail::join_place(place, key);
  if (key == "tool_version") {
    tersor::from_json(value, recipe.tool_version, at);
  } else if (key == "model_digest") {
    tersor::from_json(value, recipe.model_digest, at);
  } else if (key == "platform") {
    tersor::from_json(value, recipe.platform, at);
  } else if (key == "quantization_config") {
    recipe.quantization_config = read_quantization_config(value, at, {}, faults);
  } else if (key == "overrides") {
    if (!value.is_array()) detail::wrong_type(value, "a list", at);
    recipe.overrides = read_overrides(value, at, faults);
  } else if (key == "framework_info") {
    if (!value.is_object() && !value.is_null()) detail::wrong_type(value, "an object or null", at);
    recipe.framework_info = text_of(value);
  } else if (key == "preprocessing") {
    if (!value.is_object() && !value.is_null()) detail::wrong_type(value, "an object or null", at);
    recipe.preprocessing = text_of(value);
  } else if (key == "data_set") {
    tersor::from_json(value, recipe.data_set, at);
  } else if (key == "seeds") {
    tersor::from_json(value, recipe.seeds, at);
  } else if (key != "format" && key != "format_version") {
    detail::unknown_key(key,
                        {"format", "format_version", "tool_version", "model_digest", "platform", "quantization_config",
                         "overrides", "framework_info", "preprocessing", "data_set", "seeds"},
                        place);
  }
}

}  // namespace

std::vector<Override> read_overrides(const Json& json, const std::string& place) {
  Faults faults;
  std::vector<Override> overrides;
  faults.attempt([&] { overrides = read_overrides(json, place, faults); });
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The list of overrides", place);
  return overrides;
}

std::vector<Override> parse_overrides(std::string_view text, const std::string& place) {
  return read_overrides(parse_json(text, place), place);
}

Json to_json(const std::vector<Override>& overrides) {
  Json json = Json::array();
  for (const Override& one : overrides) json.push_back(to_json(one));
  return json;
}

std::string write_recipe(const Recipe& recipe) {
  Json json{{"format", kFormat},
            {"format_version", Recipe::kFormatVersion},
            {"tool_version", recipe.tool_version},
            {"model_digest", recipe.model_digest},
            {"platform", tersor::to_json(recipe.platform)},
            {"quantization_config", to_json(recipe.quantization_config)},
            {"overrides", to_json(recipe.overrides)},
            {"preprocessing", parse_part(recipe.preprocessing, "recipe.preprocessing")},
            {"data_set", tersor::to_json(recipe.data_set)},
            {"seeds", tersor::to_json(recipe.seeds)}};
  if (!recipe.framework_info.empty()) json["framework_info"] = parse_part(recipe.framework_info, "framework_info");
  return to_text(json) + "\n";
}

Recipe read_recipe(std::string_view text, const std::string& place, Faults& faults) {
  const Json json = parse_json(text, place);
  if (!json.is_object() || json.value("format", Json()) != kFormat)
    throw Error(ErrorCode::kInvalidConfig, "This is not a recipe: its \"format\" is not \"tersor-recipe\".", place,
                "A recipe is what --save-recipe or the page's \"Download recipe\" writes; a target platform has "
                "\"schema_version\".");
  int version = 0;
  tersor::from_json(json.value("format_version", Json()), version, place + ".format_version");
  if (version < 1 || version > Recipe::kFormatVersion)
    throw Error(ErrorCode::kInvalidConfig,
                "This recipe has format version " + std::to_string(version) + "; this version of Tersor reads up to " +
                    std::to_string(Recipe::kFormatVersion) + ".",
                place + ".format_version", "Use the version of Tersor that wrote it, or a newer one.");
  Recipe recipe;
  for (const auto& entry : json.items())
    faults.attempt([&] { read_member(entry.key(), entry.value(), recipe, place, faults); });
  return recipe;
}

Recipe read_recipe(std::string_view text, const std::string& place) {
  Faults faults;
  Recipe recipe = read_recipe(text, place, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The recipe", place);
  return recipe;
}

std::vector<std::string> differences(const Recipe& recipe, std::string_view model_digest,
                                     const RecipePlatform& platform, const RecipeDataSet& data_set) {
  std::vector<std::string> found;
  const auto start = [](std::string_view digest) { return std::string(digest.substr(0, 12)); };
  if (!model_digest.empty() && recipe.model_digest != model_digest)
    found.push_back(recipe.model_digest.empty()
                        ? "The recipe does not say which model it was made for: its model_digest is empty."
                        : "The recipe was made for another model: its SHA-256 begins with " +
                              start(recipe.model_digest) + ", this one's with " + start(model_digest) + ".");
  if (!platform.digest.empty() && !(recipe.platform == platform)) {
    const auto text = [](const RecipePlatform& one) { return one.name + "@v" + std::to_string(one.version); };
    found.push_back(text(recipe.platform) == text(platform)
                        ? "The platform " + text(platform) + " has other content than when the recipe was made."
                        : "The recipe was made for the platform " + text(recipe.platform) + ", this is " +
                              text(platform) + ".");
  }
  if (!data_set.digest.empty() && !(recipe.data_set == data_set))
    found.push_back(recipe.data_set.digest.empty()
                        ? "The recipe does not say which samples it was made with: its data set has no digest."
                        : "The recipe was made with other samples: " + std::to_string(recipe.data_set.samples) +
                              " of digest " + start(recipe.data_set.digest) + ", here " +
                              std::to_string(data_set.samples) + " of digest " + start(data_set.digest) + ".");
  return found;
}

}  // namespace tersor::config
