// SPDX-License-Identifier: Apache-2.0
// SYMMETRIC: one threshold t, zero point 0.
//   scale = t / 2^(n_bits - 1) signed, t / (2^(n_bits - 1) - 1) signed and narrow, t / 2^n_bits unsigned
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/sort_stably.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::quant {

namespace {

Range range_of(double threshold, bool is_signed) {
  return {is_signed ? -threshold : 0.0, threshold};
}

Step step_of(const Range& range, const IntegerGrid& grid) {
  if (!grid.is_signed) return {std::ldexp(range.high, -grid.n_bits), 0};
  if (!grid.narrow) return {std::ldexp(range.high, 1 - grid.n_bits), 0};
  return {range.high / grid.q_max(), 0};
}

int32_t zero_point_of(const Range&, const IntegerGrid&, float) {
  return 0;
}

Range cover(double min, double max, const IntegerGrid& grid, double min_threshold) {
  const double magnitude = std::max(grid.is_signed ? std::fabs(min) : 0.0, std::fabs(max));
  return range_of(std::max(magnitude, min_threshold), grid.is_signed);
}

/// The best of the thresholds tried so far.
class Search {
 public:
  Search(const RangeError& error, double start, bool is_signed) : error_(error), is_signed_(is_signed) { offer(start); }
  double best() const { return best_; }
  double least() const { return least_; }
  double offer(double threshold, double limit = HUGE_VAL) {
    const double found = error_(range_of(threshold, is_signed_), limit);
    if (found < least_) best_ = threshold, least_ = found;
    return found;
  }
  /// The best of 30 thresholds between two ends, which are among them.
  std::pair<double, double> window(double first, double last) {
    constexpr int kPoints = 30;
    double where = first, window_least = HUGE_VAL;
    for (int k = 0; k < kPoints; ++k) {
      const double threshold = k == kPoints - 1 ? last : first + (last - first) / (kPoints - 1) * k;
      const double found = offer(threshold, window_least);
      if (found < window_least) where = threshold, window_least = found;
    }
    return {where, window_least};
  }

 private:
  const RangeError& error_;
  bool is_signed_;
  double best_ = 0, least_ = HUGE_VAL;
};

/// The search of Sony's MCT: a window of 30 thresholds, from 0.7 to 1.2 times the current one, moves to its best and
/// narrows by (1.02, 0.98) every few moves, but not inside [0.97, 1.03].
void walk(Search& search, double from, const SearchEffort& effort) {
  constexpr double kConverged = 1e-11;
  double low = 0.7, high = 1.2, current = from;
  for (int i = 0; i < effort.symmetric_iterations; ++i) {
    const double before = search.least();
    const auto [where, found] = search.window(current * low, current * high);
    current = where;
    if (found < before && before - found < kConverged * before) break;
    if (i % effort.shrink_every == 0) low = std::min(low * 1.02, 0.97), high = std::max(high * 0.98, 1.03);
  }
}

/// The walk from the covering threshold; a ladder of thresholds far below it, whose best rungs are looked at more
/// closely, in case the valley is there; and two finer windows around the best.
Range search(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold) {
  constexpr int kRungs = 120;
  constexpr double kRung = 0.96;  // 120 rungs reach down to 0.8 % of the start
  constexpr double kHopeless = 16;
  const bool is_signed = start.low < 0;
  Search found(error, start.high, is_signed);
  walk(found, start.high, effort);

  std::vector<std::pair<double, double>> rungs;  // error, threshold
  double threshold = start.high / (kRung * kRung * kRung * kRung);
  for (int k = 0; k < kRungs; ++k, threshold *= kRung) {
    rungs.emplace_back(found.offer(threshold), threshold);
    // Further down ever more is clipped: no valley can follow.
    if (rungs.back().first > kHopeless * found.least() && k > 8) break;
  }
  sort_stably(rungs, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t k = 0; k < std::min(rungs.size(), static_cast<size_t>(effort.starts)); ++k) {
    const double rung = rungs[k].second;
    found.window(rung * kRung, rung / kRung);
  }
  for (const double reach : {0.01, 0.001}) found.window(found.best() * (1 - reach), found.best() * (1 + reach));
  return range_of(std::max(found.best(), min_threshold), is_signed);
}

}  // namespace

const Quantizer kSymmetricQuantizer{QuantizationMethod::kSymmetric, step_of, zero_point_of, cover, search};

}  // namespace tersor::quant
