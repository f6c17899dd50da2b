// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/config/quantization_config.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::cli {

/// What --platform names: a built-in platform as NAME or NAME@vK, or a platform file (a path that ends in .json or
/// holds a slash, or a file with a dot in its name). `settings` may give the layers of a file's sets. Error
/// kInvalidPlatform, kIo.
tpc::TargetPlatformCapabilities open_platform(const std::string& label_or_path,
                                              const config::QuantizationConfig& settings = {});

}  // namespace tersor::cli
