// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/quantization_config.h"

namespace tersor::config {

/// How a search compares and chooses: as the settings say, else the defaults.
inline MixedPrecisionQuantizationConfig mixed_precision_of(const QuantizationConfig& config) {
  return config.mixed_precision_config.value_or(MixedPrecisionQuantizationConfig{});
}

/// What a model may take: as the settings say, else no restriction.
inline ResourceUtilization target_of(const QuantizationConfig& config) {
  return config.target_resource_utilization.value_or(ResourceUtilization{});
}

}  // namespace tersor::config
