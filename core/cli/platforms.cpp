// SPDX-License-Identifier: Apache-2.0
// tersor platforms: what files can be made for, and how each operator set is quantized there.
#include <cstdio>

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/platform_option.h"
#include "core/framework/attach.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"

namespace tersor::cli {

namespace {

using tpc::AttributeQuantizationConfig;
using tpc::OpQuantizationConfig;

struct Options {
  std::string platform;
  std::vector<std::string> set;
  bool json = false;
};

void list(bool json) {
  Json all = Json::array();
  for (const tpc::PlatformLabel& one : tpc::builtin_platforms()) {
    if (json)
      all.push_back(
          Json{{"name", one.name}, {"version", one.version}, {"title", one.title}, {"description", one.description}});
    else
      std::printf("%s@v%d  %s\n    %s\n", one.name.c_str(), one.version, one.title.c_str(), one.description.c_str());
  }
  if (json) std::printf("%s\n", to_text(all).c_str());
}

std::string bits_text(quant::QuantizationMethod method, int n_bits) {
  return std::to_string(n_bits) + " bits " + std::string(enum_word(method));
}

std::string output_text(const OpQuantizationConfig& op) {
  if (op.quantization_preserving) return "as its input";
  if (!op.enable_activation_quantization) return "float";
  std::string text = bits_text(op.activation_quantization_method, op.activation_n_bits);
  if (op.signedness != tpc::Signedness::kAuto) text += " " + std::string(enum_word(op.signedness));
  if (!op.fixed_scale) return text;
  char fixed[64];
  std::snprintf(fixed, sizeof(fixed), ", scale %.9g, zero point %d", *op.fixed_scale, op.fixed_zero_point.value_or(0));
  return text + fixed;
}

std::string weights_text(const OpQuantizationConfig& op) {
  const AttributeQuantizationConfig& kernel = op.attribute_config(tpc::kKernelAttr);
  if (!kernel.enable_weights_quantization) return "-";
  return bits_text(kernel.weights_quantization_method, kernel.weights_n_bits) +
         (kernel.weights_per_channel_threshold ? " per channel" : " per tensor");
}

/// The configuration that an operator of the set gets with these settings, and among how many it was chosen.
struct Effective {
  std::string name;
  tpc::RuntimeKernel kernel;
  OpQuantizationConfig op;
  size_t candidates;
};

std::vector<Effective> effective(const tpc::TargetPlatformCapabilities& platform,
                                 const config::QuantizationConfig& settings) {
  std::vector<Effective> all;
  const auto add = [&](const std::string& name) {
    const auto [candidates, base] = framework::narrow(platform.tp_model.options_of(name), settings, name);
    all.push_back({name, platform.kernel_of(name), candidates[base], candidates.size()});
  };
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set) add(set.name);
  add("");
  return all;
}

void print_text(const tpc::TargetPlatformCapabilities& platform, const std::vector<Effective>& all) {
  std::printf("%s@v%d  %s\n%s\n\n", platform.name.c_str(), platform.version, platform.title.c_str(),
              platform.description.c_str());
  std::printf("%-26s %-21s %-46s %s\n", "operator set", "runs in", "output", "weights");
  for (const Effective& one : all)
    std::printf("%-26s %-21s %-46s %s\n", one.name.empty() ? "(any other)" : one.name.c_str(),
                std::string(enum_word(one.kernel)).c_str(), output_text(one.op).c_str(), weights_text(one.op).c_str());
  std::printf("\nfused:\n");
  for (const tpc::Fusing& fusing : platform.tp_model.fusing_patterns) {
    std::string chain;
    for (const tpc::OperatorSetConcat& group : fusing.operator_groups_list) {
      std::string names;
      for (const std::string& name : group.operators_set) names += (names.empty() ? "" : "|") + name;
      chain += (chain.empty() ? "" : "  +  ") + names;
    }
    std::printf("  %s\n", chain.c_str());
  }
  std::printf("\nSHA-256 %s\n", tpc::digest(platform).c_str());
}

void print_json(const tpc::TargetPlatformCapabilities& platform, const std::vector<Effective>& all) {
  Json sets = Json::array();
  for (const Effective& one : all)
    sets.push_back(Json{{"operator_set", one.name},
                        {"runtime_kernel", enum_word(one.kernel)},
                        {"candidates", one.candidates},
                        {"config", to_json(one.op)}});
  Json json{{"name", platform.name},
            {"version", platform.version},
            {"title", platform.title},
            {"description", platform.description},
            {"digest", tpc::digest(platform)},
            {"effective", sets},
            {"platform", tpc::to_json(platform)}};
  std::printf("%s\n", to_text(json).c_str());
}

void platforms(const Options& options) {
  if (options.platform.empty()) return list(options.json);
  const tpc::TargetPlatformCapabilities platform = open_platform(options.platform);
  config::QuantizationConfig settings;
  for (const std::string& assignment : options.set) config::set_field(settings, assignment);
  config::check_acts(settings);
  const std::vector<Effective> all = effective(platform, settings);
  if (options.json)
    print_json(platform, all);
  else
    print_text(platform, all);
}

}  // namespace

void add_platforms(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("platforms", "The target platforms, or how one of them quantizes each operator set.");
  auto options = std::make_shared<Options>();
  CLI::Option* name =
      command.add_option("NAME", options->platform, "A platform as NAME or NAME@vK, or a platform file.");
  command.add_option("--set", options->set, "FIELD=VALUE of the configuration, to see what it leaves.")->needs(name);
  command.add_flag("--json", options->json, "Print JSON.");
  command.callback([options] { platforms(*options); });
}

}  // namespace tersor::cli
