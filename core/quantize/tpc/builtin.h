// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tpc/target_platform_capabilities.h"

namespace tersor::tpc {

struct PlatformLabel {
  std::string name;
  int version = 1;
  std::string title;
  std::string description;
  std::string table;  // the number in the platform's own counting, such as "4.1"; empty where it has none
};

/// The platforms that come with Tersor, every version, by name and then version.
std::vector<PlatformLabel> builtin_platforms();

/// A built-in platform; without a version, the newest. Error kInvalidPlatform lists what there is.
TargetPlatformCapabilities get_target_platform_capabilities(std::string_view name,
                                                            std::optional<int> version = std::nullopt);
/// The same by "NAME", "NAME@vK", or "NAME@M.P" and "NAME@M" for tables that have a number of their own: "imx500@4.1",
/// or "imx500@4" for the newest of these.
TargetPlatformCapabilities get_target_platform_capabilities_by_label(std::string_view label);

/// The platform that is used where none is named.
inline constexpr std::string_view kDefaultPlatform = "ort-cpu";
/// What the preset of the requirement documents is for where no platform is named: it takes any bits.
inline constexpr std::string_view kAnyPlatform = "any";

}  // namespace tersor::tpc
