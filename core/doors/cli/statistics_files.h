// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/statistics.h"

namespace tersor::cli {

/// Statistics files, merged. Errors of calibrate::read() and calibrate::merge() with the path of the file at fault;
/// kMismatch where they are of different data sets.
calibrate::Statistics read_statistics(const std::vector<std::string>& paths);

}  // namespace tersor::cli
