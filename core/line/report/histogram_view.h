// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/report/comparison.h"

namespace tersor::report {

/// Joins neighbouring bins in pairs until at most `most_bins` are left. This is exact: the count of a joined bin is the
/// sum of its two halves.
HistogramView view(const quant::Histogram& histogram, size_t most_bins = 256);

/// Sets the histogram of each layer to that of its output in calibration, if there is one.
void add_histograms(Comparison& comparison, const calibrate::Statistics& statistics);

}  // namespace tersor::report
