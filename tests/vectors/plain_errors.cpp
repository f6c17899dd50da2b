// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/plain_errors.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tersor::vectors {

using quant::EvenBins;
using quant::QuantizationMethod;
using quant::Range;

std::vector<double> smoothed(std::vector<double> x) {
  double sum = 0, least = HUGE_VAL, held = 0;
  for (const double v : x) sum += v;
  for (double& v : x) {
    v /= sum;
    if (v > 0) least = std::min(least, v), held += 1;
  }
  const double filled = least / (2.0 * static_cast<double>(x.size()));
  const double loss = filled * (static_cast<double>(x.size()) - held) / held;
  for (double& v : x) v = v > 0 ? v - loss : filled;
  return x;
}

double PlainQuantizer::step() const {
  if (method != QuantizationMethod::kUniform)
    return std::ldexp(range.high, grid.is_signed ? 1 - grid.n_bits : -grid.n_bits);
  return (std::max(range.high, 0.0) - std::min(range.low, 0.0)) / (grid.q_max() - grid.q_min());
}

double PlainQuantizer::low() const {
  if (method != QuantizationMethod::kUniform) return grid.is_signed ? -range.high : 0;
  return step() == 0 ? 0 : step() * std::nearbyint(std::min(range.low, 0.0) / step());
}

double PlainQuantizer::operator()(double x) const {
  const double scale = step(), least = low();
  if (scale == 0) return 0;
  const double top = (grid.q_max() - grid.q_min()) * scale + least;
  return least + scale * std::nearbyint((std::min(std::max(x, least), top) - least) / scale);
}

double plain_error(const std::vector<double>& values, const std::vector<double>& weights,
                   const PlainQuantizer& quantizer, int p) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    sum += weight * std::pow(std::fabs(values[i] - quantizer(values[i])), p);
    total += weight;
  }
  return sum / total;
}

double plain_error(const EvenBins& bins, const PlainQuantizer& quantizer, int p) {
  std::vector<double> centres;
  for (size_t i = 0; i < bins.counts.size(); ++i) centres.push_back(bins.center(i));
  return plain_error(centres, bins.counts, quantizer, p);
}

double plain_divergence(const EvenBins& bins, const Range& range, const PlainQuantizer& quantizer) {
  const size_t count = bins.counts.size();
  if (!(range.low < range.high) || bins.edge(count) < range.low || !(bins.edge(0) < range.high)) return HUGE_VAL;
  size_t begin = 0, end = 0;
  while (bins.edge(begin) < range.low) ++begin;
  begin = begin == 0 ? 0 : begin - 1;
  for (size_t i = 0; i <= count; ++i)
    if (bins.edge(i) < range.high) end = i;
  if (end <= begin) return 0;
  std::vector<double> p(bins.counts.begin() + static_cast<long>(begin), bins.counts.begin() + static_cast<long>(end));
  if (std::all_of(p.begin(), p.end(), [](double c) { return c == 0; })) return HUGE_VAL;
  std::map<double, std::pair<double, double>> groups;  // value -> sum, bins that hold something
  std::vector<double> values;
  for (size_t i = begin; i < end; ++i) {
    values.push_back(quantizer(bins.edge(i)));
    groups[values.back()].first += p[i - begin];
    groups[values.back()].second += p[i - begin] > 0 ? 1 : 0;
  }
  std::vector<double> r;
  for (size_t i = 0; i < p.size(); ++i)
    r.push_back(p[i] > 0 ? groups[values[i]].first / (groups[values[i]].second + 1e-6) : 0);
  for (size_t i = 0; i < begin; ++i) p.front() += bins.counts[i];
  for (size_t i = end; i < count; ++i) p.back() += bins.counts[i];
  p = smoothed(p), r = smoothed(r);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] * std::log(p[i] / r[i]);
  return sum;
}

}  // namespace tersor::vectors
