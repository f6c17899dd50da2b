// SPDX-License-Identifier: Apache-2.0
// UNIFORM: any two ends with 0 between them.
//   scale = (high - low) / (2^n_bits - 1), zero point = q_min + rne(-low / scale)
// The zero point is an integer, so the grid slides by less than half a step against the range.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/sort_stably.h"
#include "core/quant/quantizers/quantizers.h"
#include "core/tensor/rounding.h"

namespace tersor::quant {

namespace {

int32_t zero_point_for(const Range& range, const IntegerGrid& grid, double scale) {
  const double steps = round_half_even(-std::min(range.low, 0.0) / scale);
  return grid.q_min() + static_cast<int32_t>(std::clamp(steps, 0.0, static_cast<double>(grid.q_max() - grid.q_min())));
}

Step step_of(const Range& range, const IntegerGrid& grid) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  if (low == high) return {0, 0};
  const double scale = (high - low) / (grid.q_max() - grid.q_min());
  return {scale, zero_point_for(range, grid, scale)};
}

int32_t zero_point_of(const Range& range, const IntegerGrid& grid, float scale) {
  return zero_point_for(range, grid, scale);
}

Range cover(double min, double max, const IntegerGrid&, double min_threshold) {
  const double low = std::min(min, 0.0), high = std::max(max, 0.0), width = high - low;
  if (width == 0 || width >= 2 * min_threshold) return {low, high};
  const double wider = 2 * min_threshold / width;
  return {low * wider, high * wider};
}

/// The best of the ranges tried so far.
class Search {
 public:
  Search(const RangeError& error, double least_width) : error_(error), least_width_(least_width) {}
  const Range& best() const { return best_; }
  double least() const { return least_; }

  /// Tries every pair (low * a, high * b), a and b evenly from `lowest` to `highest`; gives the best pair and its
  /// error. An end that is 0 stays.
  std::pair<Range, double> pairs(const Range& around, double lowest, double highest, int points) {
    Range where = around;
    double pairs_least = HUGE_VAL;
    const int all = around.low == 0 || around.high == 0 ? 4 * points : points;
    const double step = (highest - lowest) / (all - 1);
    for (int i = 0; i < (around.low == 0 ? 1 : all); ++i)
      for (int k = 0; k < (around.high == 0 ? 1 : all); ++k) {
        const Range range{around.low * (lowest + step * i), around.high * (lowest + step * k)};
        const double found = offer(range, pairs_least);
        if (found < pairs_least) where = range, pairs_least = found;
      }
    return {where, pairs_least};
  }
  double offer(const Range& range, double limit = HUGE_VAL) {
    if (range.high - range.low < least_width_) return HUGE_VAL;
    const double found = error_(range, limit);
    if (found < least_) best_ = range, least_ = found;
    return found;
  }

 private:
  const RangeError& error_;
  double least_width_;
  Range best_;
  double least_ = HUGE_VAL;
};

/// The search of Sony's MCT: of all pairs of factors from 0.7 to 1.2 the best becomes the next place to try from. It
/// ends where the best pair leaves both ends as they are, or gains nothing that counts.
void walk(Search& search, const Range& from, const SearchEffort& effort) {
  constexpr double kConverged = 1e-11;
  Range current = from;
  for (int i = 0; i < effort.uniform_iterations; ++i) {
    const double before = search.least();
    const auto [where, found] = search.pairs(current, 0.7, 1.2, effort.uniform_points);
    if (where == current || (found < before && before - found < kConverged * before)) break;
    current = where;
  }
}

/// The walk from the covering range, then from the best of a coarse grid of ranges, and finer pairs around the best.
Range search(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold) {
  Search found(error, 2 * min_threshold);
  found.offer(start);
  walk(found, start, effort);

  constexpr double kLowest = 0.1, kHighest = 1.5;
  std::vector<std::pair<double, Range>> ranges;
  double limit = HUGE_VAL;
  const double step = (kHighest - kLowest) / (effort.uniform_grid - 1);
  for (int i = 0; i < (start.low == 0 ? 1 : effort.uniform_grid); ++i)
    for (int k = 0; k < (start.high == 0 ? 1 : effort.uniform_grid); ++k) {
      const Range range{start.low * (kHighest - step * i), start.high * (kHighest - step * k)};
      ranges.emplace_back(found.offer(range, limit), range);
      if (effort.starts == 1) limit = std::min(limit, ranges.back().first);
    }
  sort_stably(ranges, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t k = 0; k < std::min(ranges.size(), static_cast<size_t>(effort.starts)); ++k)
    found.pairs(ranges[k].second, 1 - step / 2, 1 + step / 2, effort.uniform_points);
  for (const double reach : {0.02, 0.003, 0.0004})
    found.pairs(found.best(), 1 - reach, 1 + reach, effort.uniform_points);
  return found.best();
}

}  // namespace

const Quantizer kUniformQuantizer{QuantizationMethod::kUniform, step_of, zero_point_of, cover, search};

}  // namespace tersor::quant
