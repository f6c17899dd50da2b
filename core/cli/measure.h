// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/samples/data_set.h"
#include "core/tersor.h"

namespace tersor::cli {

/// Adds to the statistics what measured bias correction needs, where the settings ask for it (core/ptq/bias_sweep.h).
/// `data` is the data set that was calibrated on. Error kMismatch when it is another one.
void measure_shifts(const Job& job, const samples::DataSet& data, int threads, calibrate::Statistics& statistics);

}  // namespace tersor::cli
