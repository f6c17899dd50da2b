// SPDX-License-Identifier: Apache-2.0
// tersor platforms: what files can be made for, and how each operator set is quantized there.

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/platform_option.h"
#include "core/cli/print.h"
#include "core/cli/settings_option.h"
#include "core/config/contradictions.h"
#include "core/framework/effective.h"
#include "core/tpc/builtin.h"

namespace tersor::cli {

namespace {

struct PlatformsOptions {
  std::string platform;
  std::vector<std::string> set;
  bool json = false;
};

void list(bool json) {
  Json all = Json::array();
  for (const tpc::PlatformLabel& one : tpc::builtin_platforms()) {
    if (json)
      all.push_back(Json{{"name", one.name},
                         {"version", one.version},
                         {"title", one.title},
                         {"description", one.description},
                         {"table", one.table}});
    else
      print("%s@v%d%s  %s\n    %s\n", one.name.c_str(), one.version,
            one.table.empty() ? "" : (" (table " + one.table + ")").c_str(), one.title.c_str(),
            one.description.c_str());
  }
  if (json) print("%s\n", to_text(all).c_str());
}

void platforms(const PlatformsOptions& options) {
  if (options.platform.empty()) return list(options.json);
  config::QuantizationConfig settings;
  Faults faults;
  config::set_fields(settings, options.set, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The command line", "");
  config::check_settings(settings);
  const tpc::TargetPlatformCapabilities platform = open_platform(options.platform, settings);
  const auto all = framework::effective_configs(platform, settings);
  const std::string text = options.json ? to_text(framework::effective_json(platform, all)) + "\n"
                                        : framework::effective_text(platform, all);
  print("%s", text.c_str());
}

}  // namespace

void add_platforms(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("platforms", "The target platforms, or how one of them quantizes each operator set.");
  command.footer("Examples:\n  tersor platforms\n  tersor platforms ort-cpu --json");
  auto options = std::make_shared<PlatformsOptions>();
  CLI::Option* name =
      command.add_option("NAME", options->platform, "A platform as NAME or NAME@vK, or a platform file.");
  command.add_option("--set", options->set, "FIELD=VALUE of the configuration, to see what it leaves.")->needs(name);
  command.add_flag("--json", options->json, "Print JSON.");
  command.callback([options] { platforms(*options); });
}

}  // namespace tersor::cli
