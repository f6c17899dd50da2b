// SPDX-License-Identifier: Apache-2.0
// Settings as the calls of the packages give them, in JavaScript and in Python.
#pragma once

#include <optional>
#include <string>

#include "core/base/json_fwd.h"
#include "core/config/recipe.h"
#include "core/samples/input_spec.h"
#include "core/job/tersor.h"

namespace tersor {

/// From {platform, config, preset, overrides, framework_info, recipe}, combined (core/job/given_settings.h). `recipe`
/// takes the recipe where it is not null.
Settings read_settings(const Json& settings, std::optional<config::Recipe>* recipe);

/// A recipe or a platform file as JSON {kind, recipe | platform}, checked and written out in full; what a preprocessing
/// leaves open follows from `input`. Every fault at once, with its place after `place`, the file's name.
Json read_settings_file(const std::string& text, const std::string& place, const samples::InputSpec& input);

/// Error kMismatch when the recipe is of something else, unless the settings have allow_mismatch; `option` is what a
/// caller calls that.
void check_recipe(const std::optional<config::Recipe>& recipe, const config::Recipe& now, const Json& settings,
                  const std::string& option);

}  // namespace tersor
