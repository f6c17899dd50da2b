// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// What calibration would have seen of factor * x + offset, factor > 0. Extremes and sums are exact up to rounding; the
/// values of a bin move with its centre, exact zeros by themselves.
calibrate::TensorStatistics moved(const calibrate::TensorStatistics& of, double factor, double offset);

/// The value, now factor * x + offset, gets a name with the suffix, and its statistics follow.
void rename_moved(Graph& graph, calibrate::Statistics& statistics, ValueId value, std::string_view suffix,
                  double factor, double offset);

/// The entry of that name, to be changed; null when the value was not observed.
calibrate::TensorStatistics* find(calibrate::Statistics& statistics, std::string_view name);

}  // namespace tersor::ptq
