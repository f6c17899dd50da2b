// SPDX-License-Identifier: Apache-2.0
#include "core/cli/platform_option.h"

#include <filesystem>

#include "core/cli/files.h"
#include "core/framework/platform_layers.h"
#include "core/tpc/builtin.h"

namespace tersor::cli {

tpc::TargetPlatformCapabilities open_platform(const std::string& label_or_path,
                                              const config::QuantizationConfig& settings) {
  std::error_code none;
  const bool is_path = label_or_path.find('/') != std::string::npos || label_or_path.ends_with(".json") ||
                       (label_or_path.find('.') != std::string::npos && std::filesystem::exists(label_or_path, none));
  if (!is_path) return tpc::get_target_platform_capabilities_by_label(label_or_path);
  const FileBytes file = map_file(label_or_path);
  return framework::read_platform(file.text(), label_or_path, settings);
}

}  // namespace tersor::cli
