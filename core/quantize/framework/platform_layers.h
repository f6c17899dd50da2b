// SPDX-License-Identifier: Apache-2.0
// The layers that a platform's operator sets stand for: its own, and those known by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/framework/operations_to_layers.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::framework {

/// Reads a user's platform file. Error kInvalidPlatform that lists every fault, each with its path: those that
/// tpc::read_platform() finds, layers that cannot be read, and sets of which neither `settings` nor their names tell
/// the layers.
tpc::TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place = "platform",
                                              const config::QuantizationConfig& settings = {});

/// The layers of the platform's sets: those of custom_tpc_opset_to_layer, before the platform's own, before
/// those that are known by name. A set with an empty list stands for nothing. Error kInvalidPlatform.
OperationsToLayers layers_of(const tpc::TargetPlatformCapabilities& platform,
                             const config::QuantizationConfig& settings = {}, OperationsToLayers known = onnx_layers());

/// Error kInvalidPlatform listing every set of which `layers` knows nothing.
void check_sets_known(const tpc::TargetPlatformCapabilities& platform, const OperationsToLayers& layers);

/// Error kInvalidPlatform listing every operator that the settings' or the platform's own layers name and `known` does
/// not have, and every attribute that their filters ask for and no such operator has; operators of other domains than
/// ONNX's are taken as they are.
void check_layers(const tpc::TargetPlatformCapabilities& platform, const config::QuantizationConfig& settings,
                  const std::vector<std::string>& known);

}  // namespace tersor::framework
