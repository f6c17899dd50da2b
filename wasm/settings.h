// SPDX-License-Identifier: Apache-2.0
// Settings as the package's calls give them.
#pragma once

#include <optional>

#include "core/base/json_fwd.h"
#include "core/config/recipe.h"
#include "core/tersor.h"

namespace tersor::wasm {

/// From {platform, config, overrides, recipe}: a recipe's settings first, then what is given beside it. `recipe` takes
/// the recipe where it is not null. The preprocessing is left as "null". Errors of platform, configuration, overrides
/// and recipe.
Settings read_settings(const Json& settings, std::optional<config::Recipe>* recipe);

/// Error kMismatch when the recipe is of something else, unless `anyway`.
void check_recipe(const std::optional<config::Recipe>& recipe, const config::Recipe& now, bool anyway);

}  // namespace tersor::wasm
