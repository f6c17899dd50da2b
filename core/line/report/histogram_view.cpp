// SPDX-License-Identifier: Apache-2.0
#include "core/report/histogram_view.h"

#include "core/base/error.h"

namespace tersor::report {

HistogramView view(const quant::Histogram& histogram, size_t most_bins) {
  TERSOR_CHECK(most_bins >= 2);
  HistogramView result;
  if (histogram.empty()) return result;
  std::vector<uint64_t> counts(histogram.counts().begin(), histogram.counts().end());
  int64_t first = histogram.first_bin();
  result.bin_width = histogram.bin_width();
  while (counts.size() > most_bins) {
    // a joined bin begins at an even number
    if (first % 2 != 0) counts.insert(counts.begin(), 0), --first;
    if (counts.size() % 2 != 0) counts.push_back(0);
    for (size_t i = 0; i < counts.size() / 2; ++i) counts[i] = counts[2 * i] + counts[2 * i + 1];
    counts.resize(counts.size() / 2);
    first /= 2;
    result.bin_width *= 2;
  }
  result.lower = static_cast<double>(first) * result.bin_width;
  result.counts = std::move(counts);
  return result;
}

void add_histograms(Comparison& comparison, const calibrate::Statistics& statistics) {
  for (LayerRow& row : comparison.layers)
    if (const calibrate::TensorStatistics* seen = statistics.find(row.output);
        seen != nullptr && !seen->histogram.empty())
      row.histogram = view(seen->histogram);
}

}  // namespace tersor::report
