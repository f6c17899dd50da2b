// SPDX-License-Identifier: Apache-2.0
// What a platform comes to: for every operator set the configuration that its operators get.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/config/quantization_config.h"
#include "core/framework/operations_to_layers.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::framework {

struct EffectiveConfig {
  std::string operator_set;            // empty: operators of no set
  std::vector<std::string> operators;  // ONNX types behind the set; one with a filter ends in "(...)"
  tpc::RuntimeKernel kernel = tpc::RuntimeKernel::kFloat;
  tpc::OpQuantizationConfig config;
  size_t candidates = 0;  // that it was chosen among
};

/// One for each operator set, in the platform's order, and one for operators of no set. Error kInvalidConfig when a
/// setting leaves nothing.
std::vector<EffectiveConfig> effective_configs(const tpc::TargetPlatformCapabilities& platform,
                                               const config::QuantizationConfig& settings = {});

/// As a table for people: sets, kernels, outputs, weights, operators; fusing patterns; digest.
std::string effective_text(const tpc::TargetPlatformCapabilities& platform, const std::vector<EffectiveConfig>& all);
Json effective_json(const tpc::TargetPlatformCapabilities& platform, const std::vector<EffectiveConfig>& all);

}  // namespace tersor::framework
