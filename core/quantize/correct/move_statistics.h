// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// The statistics of factor * x + offset, given those of x; factor > 0. Extremes and sums are exact up to rounding. The
/// values of a bin move with its centre; exact zeros move by themselves.
calibrate::TensorStatistics moved(const calibrate::TensorStatistics& of, double factor, double offset);

/// Renames a value that has become factor * x + offset by appending `suffix`, and updates its statistics.
void rename_moved(Graph& graph, calibrate::Statistics& statistics, ValueId value, std::string_view suffix,
                  double factor, double offset);

/// The entry of that name for modification; null if the value was not observed.
calibrate::TensorStatistics* find(calibrate::Statistics& statistics, std::string_view name);

}  // namespace tersor::ptq
