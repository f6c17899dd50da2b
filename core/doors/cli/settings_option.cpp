// SPDX-License-Identifier: Apache-2.0
#include "core/cli/settings_option.h"

#include <algorithm>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/cli/files.h"
#include "core/cli/platform_option.h"
#include "core/job/given_settings.h"
#include "core/job/keep_float.h"
#include "core/native/size_text.h"

namespace tersor::cli {

namespace {

/// Text that begins like JSON is JSON, all else a file.
GivenJson json_or_file(const std::string& given, const std::string& option) {
  const size_t first = given.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (given[first] == '{' || given[first] == '[')) return {given, option};
  return {std::string(map_file(given).text()), given};
}

/// How an amount is written.
std::string_view budget_form(std::string_view field) {
  return field == "bops" ? "A number, such as 75000000." : "In bytes, kB or MB: 75000, 200kB, 1.5MB.";
}

std::string upper_case(std::string word) {
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return word;
}

}  // namespace

void add_preset_option(CLI::App& command, std::string& preset) {
  command.add_option("--preset", preset,
                     "What the fields hold that are not given: \"requirements\" for the defaults of the requirement "
                     "document; default: ours");
}

void add_settings_option(CLI::App& command, SettingsOption& option, bool with_recipe) {
  command.add_option(
      "--platform", option.platform,
      "Where the model will run: NAME[@vK], default ort-cpu (tersor platforms lists them), or a platform file");
  add_preset_option(command, option.preset);
  command.add_option("--config", option.config, "JSON file of QuantizationConfig fields");
  command.add_option("--set", option.sets, "FIELD=VALUE of the configuration; may be given several times")
      ->allow_extra_args(false);
  command.add_option(
      "--effort", option.effort,
      "Effort of rounding the weights: 0 rounds to the nearest integers, 1 (default) chooses integers whose errors "
      "compensate each other on the samples, 2 tries more");
  command.add_option("--block-size", option.block_size,
                     "Number of inputs of an output channel that share a scale: 16, 32, 64, 128 or 256, on platforms "
                     "that restore weights for float arithmetic; 0 for none; default: that of the platform");
  command.add_option(
      "--prefer", option.prefer,
      "What to optimize when time in the runtime, size and accuracy conflict: speed, balanced (default), "
      "accuracy or size, for which several files are compared; or integers, for every kernel in integers");
  command
      .add_option(
          "--override", option.overrides,
          "Settings for single nodes, JSON or a file of it: {\"name\" | \"type\" | \"filter\": ..., \"config\": "
          "{FIELD: VALUE}}; may be given several times; default: none")
      ->allow_extra_args(false);
  command
      .add_option("--keep-float", option.keep_float,
                  "A node's name or an operator type that stays in float; \"none\" switches the automatic choice off, "
                  "\"auto\" (default) on; may be given several times")
      ->allow_extra_args(false);
  for_each_field<config::ResourceUtilization>([&](const auto& one) {
    const std::string field(one.name);
    std::string name = field;
    std::replace(name.begin(), name.end(), '_', '-');
    command.add_option_function<std::string>(
        "--" + name, [&option, field](const std::string& given) { option.budgets.emplace_back(field, given); },
        "A budget: " + std::string(one.meaning) + " " + std::string(budget_form(field)) +
            " Each operator gets the candidate of the platform that makes the least error within it; default: no "
            "limit");
  });
  command
      .add_option(
          "--float-operators", option.float_operators,
          "At most so many operators with weights may stay in float: those where that lowers the error most; default: "
          "no limit")
      ->check(count_from(0));
  command.add_option("--framework-info", option.framework_info,
                     "Fields of FrameworkInfo in place of the defaults: JSON, or a file of it");
  if (!with_recipe) return;
  command.add_option("--recipe", option.recipe, "A recipe to follow again");
  command.add_flag("--keep-metadata", option.keep_metadata,
                   "Keep doc strings and metadata of nodes, such as an exporter's stack traces");
  command.add_option("--io-types", option.io_types,
                     "What the file takes and gives in place of floats: uint8, int8, \"uint8,int8\" (inputs, outputs), "
                     "\"uint8,float32\", or pixels, \"pixels,uint8\", \"pixels,int8\": the file takes pictures from 0 "
                     "to 255 and preprocesses them by itself; default: float32");
  command.add_flag("--allow-larger-file", option.allow_larger_file,
                   "Write a file even if it is larger than the float one");
}

std::optional<config::Recipe> read_recipe_option(const SettingsOption& option) {
  if (option.recipe.empty()) return std::nullopt;
  return config::read_recipe(map_file(option.recipe).text(), option.recipe);
}

Settings read_settings(const SettingsOption& option, const std::optional<config::Recipe>& recipe, const Graph* graph) {
  GivenSettings given;
  Faults faults;
  given.recipe = recipe;
  if (recipe) given.recipe_place = option.recipe;
  given.preset = option.preset;
  if (!option.config.empty()) given.config = {std::string(map_file(option.config).text()), option.config};
  given.sets = option.sets;
  if (option.effort) given.sets.push_back("effort=" + std::to_string(*option.effort));
  if (option.block_size) given.sets.push_back("weights_block_size=" + std::to_string(*option.block_size));
  if (!option.prefer.empty()) given.sets.push_back("prefer=" + upper_case(option.prefer));
  if (!option.io_types.empty()) {
    std::string word = upper_case(option.io_types);
    std::replace(word.begin(), word.end(), ',', '_');
    given.sets.push_back("io_types=" + word);
  }
  if (option.keep_metadata) given.sets.push_back("keep_metadata=true");
  if (option.allow_larger_file) given.sets.push_back("allow_larger_file=true");
  if (!option.budgets.empty()) {
    Json budgets = Json::object();
    for (const auto& [field, amount] : option.budgets) {
      std::string name = "--" + field;
      std::replace(name.begin(), name.end(), '_', '-');
      faults.attempt([&, field = field, amount = amount] { budgets[field] = amount_of(amount, name); });
    }
    given.sets.push_back("target_resource_utilization=" + to_text(budgets, false));
  }
  if (option.float_operators)
    given.sets.push_back("mixed_precision_config={\"float_operators\":" + std::to_string(*option.float_operators) +
                         "}");
  for (const std::string& one : option.overrides)
    faults.attempt([&] { given.overrides.push_back(json_or_file(one, "--override")); });
  if (!option.framework_info.empty()) given.framework_info = json_or_file(option.framework_info, "--framework-info");
  if (!option.platform.empty())
    given.platform = [&](const config::QuantizationConfig& config) { return open_platform(option.platform, config); };
  faults.attempt([&] { check_keep_float(option.keep_float, "--keep-float"); });
  Settings settings = combine(given, std::move(faults));
  if (graph != nullptr) keep_float(option.keep_float, *graph, settings);
  return settings;
}

}  // namespace tersor::cli
