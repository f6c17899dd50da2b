// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/faults.h"
#include "core/base/json_fwd.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::tpc {

/// What else is wrong with an operator set; `place` is its entry in the file.
using FindSetFaults = std::function<void(const OperatorsSet& set, const std::string& place, Faults& faults)>;

/// Reads a platform file (platforms/README.md). Error kInvalidPlatform that lists every fault, each with its path.
/// A user's file is read by framework::read_platform(), which knows layers.
TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place = "platform",
                                         const FindSetFaults& find_set_faults = {});

/// The platform written out in full: no named parts, every default.
Json to_json(const TargetPlatformCapabilities& platform);

/// SHA-256 of the platform's content: equal for files that differ in layout or in named parts only.
std::string digest(const TargetPlatformCapabilities& platform);

}  // namespace tersor::tpc
