// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/native/drive.h"

namespace tersor::cli {

/// Partners that meet in a folder which all processes see: each writes its sums of a step there, waits for those of the
/// others, and leaves what the step came to, so that a process that was killed can start again. `job` tells
/// measurements in one folder apart; `wait`: seconds until a part that does not come is an error (kIo).
SweepPartners partners_in(const std::string& folder, const Shard& shard, const std::string& job, int64_t wait);

}  // namespace tersor::cli
