// SPDX-License-Identifier: Apache-2.0
// Settings as the user gives them, and how they are combined. The program, the Python package and the page share this
// code.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/faults.h"
#include "core/config/recipe.h"
#include "core/job/tersor.h"

namespace tersor {

/// A JSON text from the user, and the place that errors name: a file, an option, a field of a call.
struct GivenJson {
  std::string text;
  std::string place;
};

/// The settings by source; a source that was not given is empty.
struct GivenSettings {
  std::optional<config::Recipe> recipe;
  std::string recipe_place = "recipe";      // place of its faults, such as its file name
  std::string preset;                       // values of the fields that the sources below do not give
  std::optional<GivenJson> config;          // fields of QuantizationConfig
  std::vector<std::string> sets;            // FIELD=VALUE
  std::vector<GivenJson> overrides;         // each text is a list of overrides or a single override
  std::optional<GivenJson> framework_info;  // fields of FrameworkInfo
  /// Opens the given platform for these settings. Empty: the platform is that of the recipe, else the default, which is
  /// "any" for the preset "requirements".
  std::function<tpc::TargetPlatformCapabilities(const config::QuantizationConfig&)> platform;
};

/// Combines recipe, preset, configuration and assignments field by field; a later source wins, and a preset gives every
/// field. FrameworkInfo is combined likewise. The overrides of the recipe come first, then those given; of two equal
/// overrides only the later stays. `faults` are those that the caller has found; all faults are thrown together as
/// Error kInvalidConfig. The preprocessing of the result is "null".
Settings combine(const GivenSettings& given, Faults faults = {});

/// The differences between a recipe that is followed and that of the current job, as sentences; empty if there are
/// none. A platform given beside the recipe may be another than the recipe's; under the same name and version its
/// content must be the same.
std::vector<std::string> differences(const config::Recipe& recipe, const config::Recipe& now, bool platform_given);

}  // namespace tersor
