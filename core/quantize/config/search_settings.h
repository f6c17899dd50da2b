// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/quantization_config.h"

namespace tersor::config {

/// The settings for comparing and choosing candidates; the defaults if the configuration has none.
inline MixedPrecisionQuantizationConfig mixed_precision_of(const QuantizationConfig& config) {
  return config.mixed_precision_config.value_or(MixedPrecisionQuantizationConfig{});
}

/// The limits for the model; no limits if the configuration has none.
inline ResourceUtilization target_of(const QuantizationConfig& config) {
  return config.target_resource_utilization.value_or(ResourceUtilization{});
}

}  // namespace tersor::config
