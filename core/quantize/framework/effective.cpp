// SPDX-License-Identifier: Apache-2.0
#include "core/framework/effective.h"

#include <algorithm>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/framework/attach.h"
#include "core/framework/platform_layers.h"
#include "core/tpc/read.h"

namespace tersor::framework {

namespace {

using tpc::AttributeQuantizationConfig;
using tpc::OpQuantizationConfig;

std::string bits_text(quant::QuantizationMethod method, int n_bits) {
  return std::to_string(n_bits) + " bits " + std::string(enum_word(method));
}

std::string output_text(const OpQuantizationConfig& op) {
  if (op.quantization_preserving) return "as its input";
  if (!op.enable_activation_quantization) return "float";
  std::string text = bits_text(op.activation_quantization_method, op.activation_n_bits);
  if (op.signedness != tpc::Signedness::kAuto) text += " " + std::string(enum_word(op.signedness));
  if (!op.fixed_scale) return text;
  return text + ", scale " + to_text(Json(*op.fixed_scale), false) + ", zero point " +
         std::to_string(op.fixed_zero_point.value_or(0));
}

std::string attribute_text(const AttributeQuantizationConfig& config) {
  return bits_text(config.weights_quantization_method, config.weights_n_bits) +
         (config.weights_per_channel_threshold ? " per channel" : " per tensor");
}

/// Of the kernel; of constants where there is no kernel.
std::string weights_text(const OpQuantizationConfig& op) {
  if (op.attr_weights_configs_mapping.count(std::string(tpc::kKernelAttr)) == 0) {
    const AttributeQuantizationConfig& constants = op.attribute_config(tpc::kPosAttr);
    return constants.enable_weights_quantization ? "constants " + attribute_text(constants) : "-";
  }
  const AttributeQuantizationConfig& kernel = op.attribute_config(tpc::kKernelAttr);
  return kernel.enable_weights_quantization ? attribute_text(kernel) : "-";
}

std::string input_text(const OpQuantizationConfig& op) {
  const std::vector<int>& bits = op.supported_input_activation_n_bits;
  std::string text;
  for (size_t begin = 0, end = 0; begin < bits.size(); begin = end) {
    end = begin + 1;
    while (end < bits.size() && bits[end] == bits[end - 1] + 1) ++end;
    text += (text.empty() ? "" : "/") + std::to_string(bits[begin]);
    if (end - begin > 1) text += "-" + std::to_string(bits[end - 1]);
  }
  return text;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text + ' ';
}

std::vector<std::string> operators_of(const OperationsToLayers& layers, const std::string& set) {
  std::vector<std::string> operators;
  if (const OperationsSetToLayers* entry = layers.find(set))
    for (const LayerFilterParams& layer : entry->layers)
      operators.push_back(layer.layer + (layer.plain() ? "" : "(...)"));
  return operators;
}

}  // namespace

std::vector<EffectiveConfig> effective_configs(const tpc::TargetPlatformCapabilities& platform,
                                               const config::QuantizationConfig& settings) {
  const OperationsToLayers layers = layers_of(platform, settings);
  std::vector<EffectiveConfig> all;
  Faults faults;
  const auto add = [&](const std::string& name) {
    const auto [candidates, base, idle] = narrow(platform.tp_model.options_of(name), settings, name, faults);
    all.push_back({name, operators_of(layers, name), platform.kernel_of(name), candidates[base], candidates.size()});
  };
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set) add(set.name);
  add("");
  told_once(faults, platform).throw_if_any(ErrorCode::kInvalidConfig, "The configuration", "config");
  return all;
}

std::string effective_text(const tpc::TargetPlatformCapabilities& platform, const std::vector<EffectiveConfig>& all) {
  std::string text = platform.name + "@v" + std::to_string(platform.version) + "  " + platform.title + "\n" +
                     platform.description + "\n\n";
  const auto row = [&text](const std::string& set, const std::string& kernel, const std::string& output,
                           const std::string& weights, const std::string& inputs, const std::string& choices,
                           const std::string& operators) {
    text += padded(set, 26) + padded(kernel, 21) + padded(output, 52) + padded(weights, 44) + padded(inputs, 6) +
            padded(choices, 7) + operators + "\n";
  };
  row("operator set", "runs in", "output", "weights", "input", "choices", "ONNX operators");
  for (const EffectiveConfig& one : all)
    row(one.operator_set.empty() ? "(any other)" : one.operator_set, std::string(enum_word(one.kernel)),
        output_text(one.config), weights_text(one.config), input_text(one.config), std::to_string(one.candidates),
        one.operator_set.empty() ? ""
        : one.operators.empty()  ? "none"
                                 : joined(one.operators));
  text += "\nfused:\n";
  for (const tpc::Fusing& fusing : platform.tp_model.fusing_patterns) {
    std::vector<std::string> groups;
    for (const tpc::OperatorSetConcat& group : fusing.operator_groups_list)
      groups.push_back(joined(group.operators_set, "|"));
    text += "  " + joined(groups, "  +  ") + "\n";
  }
  return text + "\nSHA-256 " + tpc::digest(platform) + "\n";
}

Json effective_json(const tpc::TargetPlatformCapabilities& platform, const std::vector<EffectiveConfig>& all) {
  Json sets = Json::array();
  for (const EffectiveConfig& one : all)
    sets.push_back(Json{{"operator_set", one.operator_set},
                        {"operators", one.operators},
                        {"runtime_kernel", enum_word(one.kernel)},
                        {"candidates", one.candidates},
                        {"config", tersor::to_json(one.config)}});
  return Json{{"name", platform.name},
              {"version", platform.version},
              {"title", platform.title},
              {"description", platform.description},
              {"digest", tpc::digest(platform)},
              {"effective", sets},
              {"platform", tpc::to_json(platform)}};
}

}  // namespace tersor::framework
