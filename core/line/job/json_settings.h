// SPDX-License-Identifier: Apache-2.0
// Settings in the form in which the JavaScript and Python packages pass them.
#pragma once

#include <optional>
#include <string>

#include "core/base/json_fwd.h"
#include "core/config/recipe.h"
#include "core/graph/graph.h"
#include "core/job/tersor.h"
#include "core/samples/input_spec.h"

namespace tersor {

/// Reads {platform, config, preset, overrides, framework_info, recipe, format} and combines them
/// (core/job/given_settings.h). If `recipe` is not null, it receives the recipe. `graph`: of the model as read, for
/// {keep_float} (core/job/keep_float.h).
Settings read_settings(const Json& settings, std::optional<config::Recipe>* recipe, const Graph* graph = nullptr);

/// Reads a recipe or platform file and returns {kind, recipe | platform}, checked and with all defaults written out.
/// What a preprocessing leaves open is completed from `input`. Throws all faults together, each with its place behind
/// `place`, the file's name.
Json read_settings_file(const std::string& text, const std::string& place, const samples::InputSpec& input);

/// Error kMismatch if the recipe is of another model, platform or data set, unless the settings have allow_mismatch.
/// `option` is the caller's name for that setting.
void check_recipe(const std::optional<config::Recipe>& recipe, const config::Recipe& now, const Json& settings,
                  const std::string& option);

}  // namespace tersor
