// SPDX-License-Identifier: Apache-2.0
// SYMMETRIC: one threshold t, zero point 0.
//   scale = t / 2^(n_bits - 1) signed, t / (2^(n_bits - 1) - 1) signed and narrow, t / 2^n_bits unsigned
#include <algorithm>
#include <cmath>

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

/// A ladder of thresholds down from the start finds the valley; then a window of 30 thresholds around the best of the
/// last window moves and narrows (the search of Sony's MCT): from [0.7, 1.2] times the current threshold, shrunk by
/// (1.02, 0.98) every few iterations, but not inside [0.97, 1.03].
Range search(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold) {
  constexpr int kWindow = 30, kRungs = 40;
  constexpr double kRung = 0.875;  // 40 rungs reach down to 0.5 % of the start
  constexpr double kConverged = 1e-11;
  const bool is_signed = start.low < 0;
  const auto error_at = [&](double threshold) { return error(range_of(threshold, is_signed)); };

  double best = start.high, least = error_at(best);
  const auto walk = [&](double from) {
    double low = 0.7, high = 1.2, current = from;
    for (int i = 0; i < effort.symmetric_iterations; ++i) {
      const double first = current * low, last = current * high, before = least;
      double window_least = HUGE_VAL;
      for (int k = 0; k < kWindow; ++k) {
        const double threshold = k == kWindow - 1 ? last : first + (last - first) / (kWindow - 1) * k;
        const double found = error_at(threshold);
        if (found < window_least) current = threshold, window_least = found;
      }
      if (window_least < least) best = current, least = window_least;
      if (window_least < before && before - window_least < kConverged) break;
      if (i % effort.shrink_every == 0) low = std::min(low * 1.02, 0.97), high = std::max(high * 0.98, 1.03);
    }
  };
  walk(start.high);
  const double walked = least;
  double rung = start.high, ladder_best = best;
  for (int k = 0; k < kRungs; ++k) {
    rung *= kRung;
    const double found = error_at(rung);
    if (found < least) ladder_best = rung, least = found;
  }
  if (least < walked) best = ladder_best, walk(ladder_best);
  return range_of(std::max(best, min_threshold), is_signed);
}

}  // namespace

const Quantizer kSymmetricQuantizer{QuantizationMethod::kSymmetric, step_of, zero_point_of, cover, search};

}  // namespace tersor::quant
