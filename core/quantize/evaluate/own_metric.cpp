// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/own_metric.h"

#include <algorithm>
#include <cmath>

namespace tersor::evaluate {

OwnFigures own_figures(const OwnMetric& metric, std::span<const SampleOutputs> samples, size_t parts) {
  OwnFigures figures;
  if (samples.empty()) return figures;
  figures.all = metric.value(samples);
  parts = samples.size() < 2 ? 0 : std::min(parts, samples.size());
  for (size_t part = 0; part < parts; ++part) {
    std::vector<SampleOutputs> others;
    for (size_t k = 0; k < samples.size(); ++k)
      if (k % parts != part) others.push_back(samples[k]);
    figures.without.push_back(metric.value(others));
  }
  return figures;
}

double standard_error(const OwnFigures& a, const OwnFigures& b) {
  const size_t parts = std::min(a.without.size(), b.without.size());
  if (parts < 2) return 0;
  const auto count = static_cast<double>(parts);
  double sum = 0, squares = 0;
  for (size_t k = 0; k < parts; ++k) sum += a.without[k] - b.without[k];
  const double mean = sum / count;
  for (size_t k = 0; k < parts; ++k) {
    const double off = a.without[k] - b.without[k] - mean;
    squares += off * off;
  }
  return std::sqrt(squares * (count - 1) / count);
}

}  // namespace tersor::evaluate
