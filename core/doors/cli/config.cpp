// SPDX-License-Identifier: Apache-2.0
// tersor config: the fields of QuantizationConfig, for programs and for people.

#include "core/base/json.h"
#include "core/cli/print.h"
#include "core/cli/settings_option.h"
#include "core/config/quantization_config.h"
#include "core/config/schema.h"

namespace tersor::cli {

namespace {

struct ConfigOptions {
  bool schema = false;
  bool defaults = false;
  std::string preset;
  std::string explain;
};

config::QuantizationConfig defaults_of(const std::string& preset) {
  return preset.empty() ? config::QuantizationConfig() : config::preset(preset);
}

void print_config(const ConfigOptions& options) {
  if (options.schema)
    print("%s\n", to_text(config::quantization_config_schema()).c_str());
  else if (options.defaults)
    print("%s\n", to_text(config::to_json(defaults_of(options.preset))).c_str());
  else
    print("%s", config::explain_field(options.explain).c_str());
}

}  // namespace

void add_config(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("config", "The fields of the configuration: schema, defaults, meanings.");
  command.footer("Examples:\n  tersor config --defaults\n  tersor config --explain weights_n_bits");
  auto options = std::make_shared<ConfigOptions>();
  CLI::Option_group& what = *command.add_option_group("what");
  what.add_flag("--schema", options->schema, "Print the configuration's JSON Schema");
  CLI::Option* defaults =
      what.add_flag("--defaults", options->defaults, "Print a configuration of defaults, for --config");
  what.add_option("--explain", options->explain, "FIELD: what it means, its values, its names in MCT and ONNX Runtime");
  what.require_option(1);
  add_preset_option(command, options->preset);
  command.get_option("--preset")->needs(defaults);
  command.callback([options] { print_config(*options); });
}

}  // namespace tersor::cli
