// SPDX-License-Identifier: Apache-2.0
// The options that say how to quantize, the same for every subcommand that takes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cli/command.h"
#include "core/cli/data_option.h"
#include "core/config/recipe.h"
#include "core/job/tersor.h"

namespace tersor::cli {

struct SettingsOption {
  std::string platform;                 // --platform: NAME[@vK] or a file
  std::string preset;                   // --preset requirements: what fields hold that are not given
  std::string config;                   // --config: a JSON file of QuantizationConfig fields
  std::vector<std::string> sets;        // --set FIELD=VALUE
  std::vector<std::string> overrides;   // --override JSON or FILE: settings for single nodes
  std::vector<std::string> keep_float;  // --keep-float NODE|TYPE|auto|none
  std::string framework_info;           // --framework-info JSON or FILE
  std::optional<int> effort;            // --effort: the field of that name
  std::optional<int> block_size;        // --block-size: weights_block_size
  std::string prefer;                   // --prefer: the field of that name, in small letters or capitals
  bool keep_metadata = false, allow_larger_file = false;
  std::string io_types;
  std::vector<std::pair<std::string, std::string>>
      budgets;                             // field of ResourceUtilization and amount: --weights-memory
  std::optional<int64_t> float_operators;  // --float-operators
  std::string recipe;                      // --recipe: a recipe file, under all of the above
};

/// --preset alone.
void add_preset_option(CLI::App& command, std::string& preset);

void add_settings_option(CLI::App& command, SettingsOption& option, bool with_recipe);

/// The recipe that --recipe names; absent without one.
std::optional<config::Recipe> read_recipe_option(const SettingsOption& option);

/// The recipe and the options, combined (core/job/given_settings.h), and the overrides of --keep-float after the
/// others. `graph` is that of the model, for what --keep-float names; null where it cannot be given. The preprocessing
/// is left as "null".
Settings read_settings(const SettingsOption& option, const std::optional<config::Recipe>& recipe, const Graph* graph);

}  // namespace tersor::cli
