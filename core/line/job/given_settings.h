// SPDX-License-Identifier: Apache-2.0
// Settings as a person gives them, and the one way they are combined: for the program, the package and the page.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/faults.h"
#include "core/config/recipe.h"
#include "core/job/tersor.h"

namespace tersor {

/// A JSON text that was given, and the place that errors name: a file, an option, a field of a call.
struct GivenJson {
  std::string text;
  std::string place;
};

/// What was given, source by source; a source that was not given is empty.
struct GivenSettings {
  std::optional<config::Recipe> recipe;
  std::string recipe_place = "recipe";      // where its faults are, such as the name of its file
  std::string preset;                       // what the fields hold that nothing below gives
  std::optional<GivenJson> config;          // fields of QuantizationConfig
  std::vector<std::string> sets;            // FIELD=VALUE
  std::vector<GivenJson> overrides;         // a list of overrides or one of them, each
  std::optional<GivenJson> framework_info;  // fields of FrameworkInfo
  /// Opens the platform that was given, for these settings; empty: the recipe's, else the default, which
  /// is "any" for the preset "requirements".
  std::function<tpc::TargetPlatformCapabilities(const config::QuantizationConfig&)> platform;
};

/// Recipe, preset, configuration and assignments, the later over the earlier, field by field; a preset gives every
/// field. FrameworkInfo likewise. The overrides of the recipe come first, then those given; of two that are equal the
/// later one stays. `faults` are what the caller has found already; all are thrown at once, as Error kInvalidConfig.
/// The preprocessing is left as "null".
Settings combine(const GivenSettings& given, Faults faults = {});

/// What differs between a recipe that is followed and the recipe of the job at hand, as sentences; empty when all fits.
/// A platform that was given beside the recipe wins over the recipe's; under the same name its content must be the
/// same.
std::vector<std::string> differences(const config::Recipe& recipe, const config::Recipe& now, bool platform_given);

}  // namespace tersor
