// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/report/comparison.h"

namespace tersor::report {

/// The histogram with neighbouring bins joined until at most `most_bins` are left. Exact: a joined bin is the sum of
/// its two halves.
HistogramView view(const quant::Histogram& histogram, size_t most_bins = 256);

/// Gives each layer the histogram that calibration took of its output, where it took one.
void add_histograms(Comparison& comparison, const calibrate::Statistics& statistics);

}  // namespace tersor::report
