// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/samples/data_set.h"
#include "core/tersor.h"

namespace tersor::cli {

/// Adds to the statistics what effort and measured bias correction need, where the settings ask for them
/// (core/ptq/sweep.h); `decided` is their draft, before and afterwards. `data` is the data
/// set that was calibrated on: kFresh says that this process did so itself; kFromFile has every sample checked. Error
/// kMismatch when it is another one. False where nothing asked for it, and no sample was run.
enum class StatisticsOrigin { kFresh, kFromFile };
bool measure(const Job& job, Draft& decided, const samples::DataSet& data, StatisticsOrigin origin, int threads,
             calibrate::Statistics& statistics);

}  // namespace tersor::cli
