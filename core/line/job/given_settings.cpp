// SPDX-License-Identifier: Apache-2.0
#include "core/job/given_settings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "core/config/contradictions.h"
#include "core/framework/framework_info.h"
#include "core/tpc/builtin.h"

namespace tersor {

namespace {

config::QuantizationConfig combine_config(const GivenSettings& given, Faults& faults) {
  config::QuantizationConfig config;
  if (given.recipe) config = given.recipe->quantization_config;
  if (!given.preset.empty()) faults.attempt([&] { config = config::preset(given.preset); });
  if (given.config)
    faults.attempt([&] {
      const auto& [text, place] = *given.config;
      config = config::read_quantization_config(parse_json(text, place), place, config, faults);
    });
  config::set_fields(config, given.sets, faults);
  return config;
}

std::vector<config::Override> combine_overrides(const GivenSettings& given, Faults& faults) {
  std::vector<config::Override> all;
  if (given.recipe) all = given.recipe->overrides;
  for (const GivenJson& one : given.overrides)
    faults.attempt([&] {
      for (config::Override& next : config::parse_overrides(one.text, one.place)) all.push_back(std::move(next));
    });
  std::set<std::string> seen;
  std::vector<config::Override> kept;
  for (auto next = all.rbegin(); next != all.rend(); ++next)
    if (seen.insert(to_text(config::to_json(std::vector{*next}), false)).second) kept.push_back(std::move(*next));
  std::reverse(kept.begin(), kept.end());
  return kept;
}

/// Compact, so that equal settings are equal in a recipe.
std::string combine_framework_info(const GivenSettings& given, Faults& faults) {
  std::string recipe = given.recipe ? given.recipe->framework_info : "";
  Json all = Json::object();
  if (!recipe.empty())
    faults.attempt([&] {
      all = parse_json(recipe, given.recipe_place + ".framework_info");
      framework::read_framework_info(all, given.recipe_place + ".framework_info");
    });
  if (!given.framework_info) return recipe;
  faults.attempt([&] {
    const auto& [text, place] = *given.framework_info;
    const Json fields = parse_json(text, place);
    framework::read_framework_info(fields, place);
    for (const auto& entry : fields.items()) all[entry.key()] = entry.value();
  });
  return to_text(all, false);
}

tpc::TargetPlatformCapabilities open_platform(const GivenSettings& given, const config::QuantizationConfig& config) {
  if (given.platform) return given.platform(config);
  // The documents' defaults are of no platform: any takes them, and whatever bits are asked for beside them.
  const std::string_view usual = given.preset == "requirements" ? tpc::kAnyPlatform : tpc::kDefaultPlatform;
  if (!given.recipe || given.recipe->platform.name.empty())
    return tpc::get_target_platform_capabilities_by_label(usual);
  const config::RecipePlatform& platform = given.recipe->platform;
  return tpc::get_target_platform_capabilities(platform.name, platform.version);
}

}  // namespace

Settings combine(const GivenSettings& given, Faults faults) {
  const config::QuantizationConfig config = combine_config(given, faults);
  std::vector<config::Override> overrides = combine_overrides(given, faults);
  std::string framework_info = combine_framework_info(given, faults);
  // Contradictions alone are left to prepare(), which knows all settings.
  if (!faults.empty()) config::find_contradictions(config, overrides, config::requirement_defaults(), "config", faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "What was given", "settings");
  return {open_platform(given, config), config, std::move(overrides), std::move(framework_info)};
}

std::vector<std::string> differences(const config::Recipe& recipe, const config::Recipe& now, bool platform_given) {
  const auto label = [](const config::RecipePlatform& one) { return std::pair(one.name, one.version); };
  const bool wins = platform_given && label(recipe.platform) != label(now.platform);
  return config::differences(recipe, now.model_digest, wins ? recipe.platform : now.platform, now.data_set);
}

}  // namespace tersor
