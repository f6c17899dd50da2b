// SPDX-License-Identifier: Apache-2.0
// tersor config: the fields of QuantizationConfig, for programs and for people.
#include <cstdio>

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/config/quantization_config.h"
#include "core/config/schema.h"

namespace tersor::cli {

namespace {

struct Options {
  bool schema = false;
  bool defaults = false;
  std::string explain;
};

void print_config(const Options& options) {
  if (options.schema)
    std::printf("%s\n", to_text(config::quantization_config_schema()).c_str());
  else if (options.defaults)
    std::printf("%s\n", to_text(config::to_json(config::QuantizationConfig())).c_str());
  else
    std::fputs(config::explain_field(options.explain).c_str(), stdout);
}

}  // namespace

void add_config(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("config", "The fields of the configuration: schema, defaults, meanings.");
  auto options = std::make_shared<Options>();
  CLI::Option_group& what = *command.add_option_group("what");
  what.add_flag("--schema", options->schema, "Print the configuration's JSON Schema");
  what.add_flag("--defaults", options->defaults, "Print a configuration of defaults, for --config");
  what.add_option("--explain", options->explain, "FIELD: what it means, its values, its names in MCT and ONNX Runtime");
  what.require_option(1);
  command.callback([options] { print_config(*options); });
}

}  // namespace tersor::cli
