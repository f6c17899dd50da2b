// SPDX-License-Identifier: Apache-2.0
// UNIFORM: any two ends with 0 between them.
//   scale = (high - low) / (2^n_bits - 1), zero point = q_min + rne(-low / scale)
// The zero point is an integer, so the grid slides by less than half a step against the range.
#include <algorithm>
#include <cmath>
#include <vector>

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

/// Both ends move at once: of all pairs (low * a, high * b), a and b from 0.7 to 1.2, the best becomes the next place
/// to try from (the search of Sony's MCT). It ends where the best pair leaves both ends as they are, or gains nothing
/// that counts.
Range search(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold) {
  constexpr double kLowest = 0.7, kHighest = 1.2, kConverged = 1e-11;
  std::vector<double> factors;
  for (int k = 0; k < effort.uniform_points; ++k)
    factors.push_back(kLowest + (kHighest - kLowest) / (effort.uniform_points - 1) * k);
  const std::vector<double> none{1.0};

  Range best = start, current = start;
  double least = error(start);
  for (int i = 0; i < effort.uniform_iterations; ++i) {
    const Range from = current;
    const double before = least;
    double round_least = HUGE_VAL;
    for (const double a : from.low == 0 ? none : factors)
      for (const double b : from.high == 0 ? none : factors) {
        const Range range{from.low * a, from.high * b};
        if (range.high - range.low < 2 * min_threshold) continue;
        const double found = error(range);
        if (found < round_least) current = range, round_least = found;
      }
    if (round_least < least) best = current, least = round_least;
    if (current == from || (round_least < before && before - round_least < kConverged)) break;
  }
  return best;
}

}  // namespace

const Quantizer kUniformQuantizer{QuantizationMethod::kUniform, step_of, zero_point_of, cover, search};

}  // namespace tersor::quant
