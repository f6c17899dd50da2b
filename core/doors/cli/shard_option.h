// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/native/calibrate_data.h"

namespace tersor::cli {

/// "I/N" with 1 <= I <= N; the whole where the text is empty. Error kInvalidArgument.
Shard read_shard(const std::string& text);

}  // namespace tersor::cli
