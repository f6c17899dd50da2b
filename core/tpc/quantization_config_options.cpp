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

}  // namespace tersor::tpc
