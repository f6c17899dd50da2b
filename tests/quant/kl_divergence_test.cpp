// SPDX-License-Identifier: Apache-2.0
#include "core/quant/kl_divergence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

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

/// The definition, bin by bin.
double plain_divergence(const EvenBins& bins, const Range& range, const Step& step, const IntegerGrid& grid) {
  const size_t count = bins.counts.size();
  size_t begin = 0, end = 0;
  bool above = false;
  for (size_t i = 0; i <= count && !above; ++i)
    if (bins.edge(i) >= range.low) begin = i, above = true;
  begin = begin == 0 ? 0 : begin - 1;
  for (size_t i = 0; i <= count; ++i)
    if (bins.edge(i) < range.high) end = i;
  std::vector<double> p(bins.counts.begin() + static_cast<long>(begin), bins.counts.begin() + static_cast<long>(end));
  std::map<double, std::pair<double, double>> groups;  // integer -> sum, bins that hold something
  std::vector<double> codes;
  for (size_t i = begin; i < end; ++i) {
    const double code = std::clamp<double>(std::nearbyint(bins.edge(i) / step.scale), grid.q_min() - step.zero_point,
                                           grid.q_max() - step.zero_point);
    codes.push_back(code);
    groups[code].first += p[i - begin];
    groups[code].second += p[i - begin] > 0 ? 1 : 0;
  }
  std::vector<double> r;
  for (size_t i = 0; i < p.size(); ++i)
    r.push_back(p[i] > 0 ? groups[codes[i]].first / (groups[codes[i]].second + 1e-6) : 0);
  for (size_t i = 0; i < begin; ++i) p.front() += bins.counts[i];
  for (size_t i = end; i < count; ++i) p.back() += bins.counts[i];
  p = smoothed(p), r = smoothed(r);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] * std::log(p[i] / r[i]);
  return sum;
}

}  // namespace

TEST_CASE("the divergence by sums is that of the definition, bin by bin") {
  std::mt19937 random(31);
  for (int round = 0; round < 400; ++round) {
    EvenBins bins{-3, 6.0 / (20 + random() % 500), {}, 0, {}};
    const bool sparse = round % 3 == 0;
    for (double x = -3; x < 3; x += bins.width)
      bins.counts.push_back(sparse && random() % 4 != 0 ? 0.0 : std::floor(1e4 * std::exp(-x * x)) + random() % 5);
    const IntegerGrid grid{2 + static_cast<int>(random() % 9), random() % 2 == 0, false};
    const bool uniform = !grid.is_signed;
    const double high = 0.3 + (random() % 1000) / 250.0;
    const Range range{uniform ? -0.2 - (random() % 1000) / 300.0 : -high, high};
    const Step step =
        quantizer_of(uniform ? QuantizationMethod::kUniform : QuantizationMethod::kSymmetric).step_of(range, grid);
    const double expected = plain_divergence(bins, range, step, grid);
    INFO(bins.counts.size() << " bins, " << grid.n_bits << " bits, " << range.low << " to " << range.high);
    REQUIRE(KlDivergence(bins).of(range, step, grid) == Approx(expected).epsilon(1e-8).margin(1e-10));
  }
}

TEST_CASE("a range within one bin has no divergence, one without values an infinite one") {
  const EvenBins bins{0, 1, {0, 0, 5, 7}, 0, {2, 4}};
  KlDivergence divergence(bins);
  const IntegerGrid grid{8, false, false};
  REQUIRE(divergence.of({0, 0.5}, {1.0 / 256, 0}, grid) == 0);
  REQUIRE(divergence.of({0, 1.5}, {1.0 / 256, 0}, grid) == HUGE_VAL);
  REQUIRE(divergence.of({2, 1}, {1.0 / 256, 0}, grid) == HUGE_VAL);
  REQUIRE(divergence.covered_bins({0, 3.5}) == 3);
}

TEST_CASE("a search by divergence does not fall into the trap of few bins") {
  // Where one bin stands for the range the divergence is 0; the reference's POWER_OF_TWO thresholds end there.
  Histogram histogram;
  std::vector<float> values;
  std::mt19937 random(5);
  for (int i = 0; i < 40000; ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += (random() % 65536) / 65536.0;
    values.push_back(static_cast<float>(sum));
  }
  histogram.add(values);
  for (const QuantizationMethod method : acting_methods())
    for (const int n_bits : {2, 4, 8, 16}) {
      const IntegerGrid grid{n_bits, method != QuantizationMethod::kUniform, false};
      const RangeSelection found = select_activation_range(histogram, method, grid, {ThresholdSelectionMethod::kKl});
      INFO(enum_word(method) << " " << n_bits << " bits: " << found.range.low << " to " << found.range.high);
      REQUIRE(found.range.high > 0.3);
      REQUIRE(found.expected_sqnr_db > (n_bits == 2 ? 0.5 : n_bits == 4 ? 10 : 30));
    }
}
