// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/json_fwd.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::tpc {

/// Reads a platform file (platforms/README.md). Error kInvalidPlatform that lists every fault, each with its path.
TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place = "platform");

/// The platform written out in full: no named parts, every default.
Json to_json(const TargetPlatformCapabilities& platform);

/// SHA-256 of the platform's content: equal for files that differ in layout or in named parts only.
std::string digest(const TargetPlatformCapabilities& platform);

}  // namespace tersor::tpc
