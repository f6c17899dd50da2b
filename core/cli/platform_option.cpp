// SPDX-License-Identifier: Apache-2.0
#include "core/cli/platform_option.h"

#include <filesystem>

#include "core/base/names.h"
#include "core/cli/files.h"
#include "core/framework/platform_layers.h"
#include "core/tpc/builtin.h"

namespace tersor::cli {

namespace {

tpc::TargetPlatformCapabilities builtin_platform(const std::string& label) {
  try {
    return tpc::get_target_platform_capabilities_by_label(label);
  } catch (const Error& error) {
    std::vector<std::string> names;
    for (const tpc::PlatformLabel& one : tpc::builtin_platforms()) names.push_back(one.name);
    throw Error(error.code, error.message, error.place,
                suggestion(label.substr(0, label.find('@')), names) + error.hint);
  }
}

}  // namespace

tpc::TargetPlatformCapabilities open_platform(const std::string& label_or_path,
                                              const config::QuantizationConfig& settings) {
  std::error_code none;
  const bool is_path = label_or_path.find('/') != std::string::npos || label_or_path.ends_with(".json") ||
                       (label_or_path.find('.') != std::string::npos && std::filesystem::exists(label_or_path, none));
  if (!is_path) return builtin_platform(label_or_path);
  const FileBytes file = map_file(label_or_path);
  return framework::read_platform(file.text(), label_or_path, settings);
}

}  // namespace tersor::cli
