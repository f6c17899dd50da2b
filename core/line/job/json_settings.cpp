// SPDX-License-Identifier: Apache-2.0
#include "core/job/json_settings.h"

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/framework/framework_info.h"
#include "core/framework/overrides.h"
#include "core/framework/platform_layers.h"
#include "core/job/given_settings.h"
#include "core/job/keep_float.h"
#include "core/samples/preprocessing.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"

namespace tersor {

namespace {

bool given(const Json& settings, const char* name) {
  return settings.contains(name) && !settings.at(name).is_null();
}

GivenJson part_of(const Json& settings, const char* name) {
  return {to_text(settings.at(name), false), name};
}

/// A label such as "ort-cpu@v1", or a platform written out.
tpc::TargetPlatformCapabilities open_platform(const Json& platform, const config::QuantizationConfig& config) {
  if (platform.is_object()) return framework::read_platform(to_text(platform, false), "platform", config);
  if (!platform.is_string()) detail::wrong_type(platform, "a platform's name or content", "platform");
  return tpc::get_target_platform_capabilities_by_label(platform.get<std::string>());
}

}  // namespace

Settings read_settings(const Json& settings, std::optional<config::Recipe>* recipe, const Graph* graph) {
  GivenSettings all;
  Faults faults;
  if (given(settings, "recipe"))
    faults.attempt([&] { all.recipe = config::read_recipe(to_text(settings.at("recipe")), "recipe"); });
  if (given(settings, "preset")) faults.attempt([&] { from_json(settings.at("preset"), all.preset, "preset"); });
  if (given(settings, "config")) all.config = part_of(settings, "config");
  if (given(settings, "overrides")) all.overrides.push_back(part_of(settings, "overrides"));
  if (given(settings, "framework_info")) all.framework_info = part_of(settings, "framework_info");
  if (given(settings, "platform"))
    all.platform = [&](const config::QuantizationConfig& config) {
      return open_platform(settings.at("platform"), config);
    };
  std::vector<std::string> in_float;
  if (given(settings, "keep_float"))
    faults.attempt([&] {
      from_json(settings.at("keep_float"), in_float, "keep_float");
      check_keep_float(in_float, "keep_float");
    });
  Settings result = combine(all, std::move(faults));
  if (given(settings, "format")) from_json(settings.at("format"), result.format, "format");
  if (graph != nullptr) keep_float(in_float, *graph, result);
  if (recipe != nullptr) *recipe = std::move(all.recipe);
  return result;
}

Json read_settings_file(const std::string& text, const std::string& place, const samples::InputSpec& input) {
  const Json json = parse_json(text, place);
  if (json.is_object() && (json.contains("schema_version") || json.contains("operator_set")))
    return {{"kind", "platform"}, {"platform", tpc::to_json(framework::read_platform(text, place))}};
  Faults faults;
  config::Recipe recipe = config::read_recipe(text, place, faults);
  if (!recipe.preprocessing.empty())
    faults.attempt([&] {
      const auto read = samples::read_preprocessing(recipe.preprocessing, input, place + ".preprocessing");
      recipe.preprocessing = to_text(to_json(read), false);
    });
  if (!recipe.framework_info.empty())
    faults.attempt([&] {
      const std::string at = place + ".framework_info";
      framework::read_framework_info(parse_json(recipe.framework_info, at), at);
    });
  faults.attempt([&] { framework::Overrides(recipe.overrides, nullptr, {}, place + ".overrides"); });
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The recipe", place);
  return {{"kind", "recipe"}, {"recipe", parse_json(config::write_recipe(recipe), place)}};
}

void check_recipe(const std::optional<config::Recipe>& recipe, const config::Recipe& now, const Json& settings,
                  const std::string& option) {
  if (!recipe || settings.at("allow_mismatch").get<bool>()) return;
  const std::vector<std::string> found = differences(*recipe, now, given(settings, "platform"));
  if (found.empty()) return;
  throw Error(ErrorCode::kMismatch, joined(found, " "), "recipe", "Go on all the same with " + option + ".");
}

}  // namespace tersor
