// SPDX-License-Identifier: Apache-2.0
#include "wasm/settings.h"

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/config/contradictions.h"
#include "core/framework/framework_info.h"
#include "core/framework/platform_layers.h"
#include "core/tpc/builtin.h"

namespace tersor::wasm {

namespace {

/// A label such as "ort-cpu@v1", or a platform written out; null leaves it to `otherwise`.
tpc::TargetPlatformCapabilities read_platform(const Json& platform, const std::string& otherwise,
                                              const config::QuantizationConfig& settings) {
  if (platform.is_object()) return framework::read_platform(to_text(platform, false), "platform", settings);
  return tpc::get_target_platform_capabilities_by_label(platform.is_null() ? otherwise : platform.get<std::string>());
}

bool given(const Json& settings, const char* name) {
  return settings.contains(name) && !settings.at(name).is_null();
}

}  // namespace

Settings read_settings(const Json& settings, std::optional<config::Recipe>* recipe) {
  std::optional<config::Recipe> opened;
  if (given(settings, "recipe")) opened = config::read_recipe(to_text(settings.at("recipe")), "recipe");
  std::string platform(tpc::kDefaultPlatform);
  if (opened) platform = opened->platform.name + "@v" + std::to_string(opened->platform.version);
  config::QuantizationConfig start;
  if (opened) start = opened->quantization_config;
  if (given(settings, "preset")) start = config::preset(settings.at("preset").get<std::string>());
  Faults faults;
  const config::QuantizationConfig config =
      config::read_quantization_config(settings.at("config"), "config", start, faults);
  std::vector<config::Override> overrides;
  std::string framework_info;
  if (opened) overrides = opened->overrides;
  if (opened) framework_info = opened->framework_info;
  if (given(settings, "framework_info")) {
    faults.attempt([&] { framework::read_framework_info(settings.at("framework_info")); });
    framework_info = to_text(settings.at("framework_info"), false);
  }
  if (given(settings, "overrides"))
    faults.attempt([&] { overrides = config::read_overrides(settings.at("overrides"), "overrides"); });
  // Contradictions alone are left to prepare(), which knows all settings.
  if (!faults.empty()) config::find_contradictions(config, overrides, config::requirement_defaults(), "config", faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The configuration", "config");
  Settings result{read_platform(settings.at("platform"), platform, config), config, std::move(overrides),
                  std::move(framework_info)};
  if (recipe != nullptr) *recipe = std::move(opened);
  return result;
}

void check_recipe(const std::optional<config::Recipe>& recipe, const config::Recipe& now, bool anyway) {
  if (!recipe || anyway) return;
  const std::vector<std::string> found = differences(*recipe, now.model_digest, now.platform, now.data_set);
  if (found.empty()) return;
  std::string message;
  for (const std::string& one : found) message += (message.empty() ? "" : " ") + one;
  throw Error(ErrorCode::kMismatch, message, "recipe", "Go on all the same with allowMismatch.");
}

}  // namespace tersor::wasm
