// SPDX-License-Identifier: Apache-2.0
#include "core/tpc/quantization_config_options.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::tpc {

QuantizationConfigOptions::QuantizationConfigOptions(std::vector<OpQuantizationConfig> quantization_config_list,
                                                     std::optional<OpQuantizationConfig> base_config)
    : list_(std::move(quantization_config_list)) {
  if (list_.empty())
    throw Error(ErrorCode::kInvalidPlatform, "A list of quantization configurations is empty.",
                "quantization_config_list", "Give at least one.");
  if (!base_config && list_.size() > 1)
    throw Error(ErrorCode::kInvalidPlatform,
                "There are " + std::to_string(list_.size()) + " quantization configurations and no base_config.",
                "base_config", "Name the one to use where no mixture of precisions is searched for.");
  if (!base_config) return;
  const auto it = std::find(list_.begin(), list_.end(), *base_config);
  if (it == list_.end())
    throw Error(ErrorCode::kInvalidPlatform, "The base_config is not in the quantization_config_list.", "base_config",
                "Repeat one of the list, member by member.");
  base_ = static_cast<size_t>(it - list_.begin());
}

QuantizationConfigOptions QuantizationConfigOptions::clone_and_edit(
    const std::function<void(OpQuantizationConfig&)>& edit) const {
  QuantizationConfigOptions copy = *this;
  for (OpQuantizationConfig& one : copy.list_) edit(one);
  return copy;
}

QuantizationConfigOptions QuantizationConfigOptions::clone_and_edit_weight_attribute(
    const std::vector<std::string>& attributes, const std::function<void(AttributeQuantizationConfig&)>& edit) const {
  return clone_and_edit([&](OpQuantizationConfig& op) {
    if (attributes.empty()) edit(op.default_weight_attr_config);
    for (auto& [name, config] : op.attr_weights_configs_mapping)
      if (attributes.empty() || std::find(attributes.begin(), attributes.end(), name) != attributes.end()) edit(config);
    for (const std::string& name : attributes)
      if (op.attr_weights_configs_mapping.count(name) == 0)
        throw Error(ErrorCode::kInvalidPlatform, "There is no attribute \"" + name + "\" to edit.",
                    "attr_weights_configs_mapping");
  });
}

QuantizationConfigOptions QuantizationConfigOptions::clone_and_map_weights_attr_keys(
    const std::map<std::string, std::string>& names) const {
  return clone_and_edit([&](OpQuantizationConfig& op) {
    std::map<std::string, AttributeQuantizationConfig> renamed;
    for (const auto& [name, config] : op.attr_weights_configs_mapping) {
      const auto found = names.find(name);
      renamed[found == names.end() ? name : found->second] = config;
    }
    op.attr_weights_configs_mapping = std::move(renamed);
  });
}

}  // namespace tersor::tpc
