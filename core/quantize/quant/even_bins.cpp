// SPDX-License-Identifier: Apache-2.0
#include "core/quant/even_bins.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace tersor::quant {

double EvenBins::total() const {
  double sum = zeros;
  for (const double count : counts) sum += count;
  return sum;
}

bool EvenBins::all_zero() const {
  return std::all_of(counts.begin(), counts.end(), [](double count) { return !(count > 0); });
}

EvenBins bins_of(const Histogram& histogram) {
  EvenBins bins;
  if (histogram.empty()) return bins;
  bins.first = histogram.lower(0);
  bins.width = histogram.bin_width();
  bins.counts.assign(histogram.counts().begin(), histogram.counts().end());
  bins.zeros = static_cast<double>(histogram.zeros());
  bins.extremes = {histogram.min(), histogram.max()};
  if (histogram.zeros() > 0) bins.counts[static_cast<size_t>(-histogram.first_bin())] -= bins.zeros;
  return bins;
}

EvenBins even_histogram(std::span<const double> values, size_t count, std::span<const double> weights) {
  TERSOR_CHECK(count > 0 && (weights.empty() || weights.size() == values.size()));
  EvenBins bins;
  bins.counts.assign(count, 0.0);
  if (values.empty()) return bins;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  bins.extremes = {*least, *most};
  const bool constant = *least == *most;
  const double low = constant ? *least - 0.5 : *least, high = constant ? *most + 0.5 : *most;
  bins.first = low;
  bins.width = (high - low) / static_cast<double>(count);
  for (size_t k = 0; k < values.size(); ++k) {
    const double place = std::floor((values[k] - low) / (high - low) * static_cast<double>(count));
    size_t i = std::min(static_cast<size_t>(std::max(place, 0.0)), count - 1);
    if (i > 0 && values[k] < bins.edge(i)) --i;
    if (i + 1 < count && values[k] >= bins.edge(i + 1)) ++i;
    bins.counts[i] += weights.empty() ? 1.0 : weights[k];
  }
  return bins;
}

EvenBins rebin(const EvenBins& bins, double low, double high, size_t count) {
  EvenBins made{low, (high - low) / static_cast<double>(count), std::vector<double>(count), bins.zeros, bins.extremes};
  std::vector<double> below(bins.counts.size() + 1, 0.0);  // values below each edge
  for (size_t i = 0; i < bins.counts.size(); ++i) below[i + 1] = below[i] + bins.counts[i];
  const auto values_below = [&](double x) {
    const double place = (x - bins.first) / bins.width;
    if (!(place > 0)) return 0.0;
    if (place >= static_cast<double>(bins.counts.size())) return below.back();
    const size_t i = static_cast<size_t>(place);
    return below[i] + (place - static_cast<double>(i)) * bins.counts[i];
  };
  double last = 0;
  for (size_t i = 0; i < count; ++i) {
    const double next = i + 1 == count ? below.back() : values_below(made.edge(i + 1));
    made.counts[i] = next - last;
    last = next;
  }
  return made;
}

void remove_outliers(EvenBins& bins, double z) {
  const double total = bins.total();
  if (!(total > 0) || !std::isfinite(z)) return;
  double mean = 0, variance = 0;
  for (size_t i = 0; i < bins.counts.size(); ++i) mean += bins.edge(i) * bins.counts[i];
  mean /= total;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const double distance = bins.edge(i) - mean;
    variance += distance * distance * bins.counts[i];
  }
  variance += mean * mean * bins.zeros;
  const double deviation = std::sqrt(variance / total);
  if (!(deviation > 0)) return;
  const auto is_far = [&](size_t i) { return std::fabs(bins.edge(i) - mean) / deviation > z; };
  double low = 0, high = 0;
  bool seen = bins.zeros > 0;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    if (is_far(i)) bins.counts[i] = 0;
    if (!(bins.counts[i] > 0)) continue;
    low = seen ? std::min(low, bins.edge(i)) : bins.edge(i);
    high = seen ? std::max(high, bins.edge(i + 1)) : bins.edge(i + 1);
    seen = true;
  }
  bins.extremes = {std::max(bins.extremes.low, low), std::min(bins.extremes.high, high)};
}

}  // namespace tersor::quant
