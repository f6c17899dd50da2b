// SPDX-License-Identifier: Apache-2.0
#include "core/tpc/builtin.h"

#include <charconv>

#include "core/base/error.h"
#include "core/tpc/builtin_files.h"
#include "core/tpc/read.h"

namespace tersor::tpc {

namespace {

std::string label_of(const BuiltinFile& file) {
  return std::string(file.name) + "@v" + std::to_string(file.version);
}

std::string all_labels() {
  std::string list;
  for (const BuiltinFile& file : builtin_files()) list += (list.empty() ? "" : ", ") + label_of(file);
  return list;
}

}  // namespace

std::vector<PlatformLabel> builtin_platforms() {
  std::vector<PlatformLabel> labels;
  for (const BuiltinFile& file : builtin_files()) {
    const TargetPlatformCapabilities platform = read_platform(file.text, label_of(file));
    labels.push_back({platform.name, platform.version, platform.title, platform.description});
  }
  return labels;
}

TargetPlatformCapabilities get_target_platform_capabilities(std::string_view name, std::optional<int> version) {
  const BuiltinFile* found = nullptr;
  for (const BuiltinFile& file : builtin_files())
    if (file.name == name && (!version || file.version == *version)) found = &file;
  if (found != nullptr) return read_platform(found->text, label_of(*found));
  throw Error(ErrorCode::kInvalidPlatform,
              "There is no platform \"" + std::string(name) + "\"" +
                  (version ? " of version " + std::to_string(*version) : "") + ".",
              "platform", "Use one of: " + all_labels() + "; or give a platform file.");
}

TargetPlatformCapabilities get_target_platform_capabilities_by_label(std::string_view label) {
  const size_t at = label.find("@v");
  if (at == std::string_view::npos) return get_target_platform_capabilities(label);
  int version = 0;
  const std::string_view digits = label.substr(at + 2);
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (fault != std::errc() || end != digits.data() + digits.size())
    throw Error(ErrorCode::kInvalidPlatform, "\"" + std::string(label) + "\" is not of the form NAME@vK.", "platform",
                "Use one of: " + all_labels() + ".");
  return get_target_platform_capabilities(label.substr(0, at), version);
}

}  // namespace tersor::tpc
