// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/quant/quantizer.h"

namespace tersor::quant {

/// The range with the least error among `found` and many others within `start`, whose ends are tried one after the
/// other, evenly at first and then closely around the best. A divergence over bins is so rugged that a descent ends in
/// a valley beside the deepest. error(range, limit).
template <class Error>
Range scan_ends(const Quantizer& quantizer, const IntegerGrid& grid, const Range& start, const Range& found,
                double least, const Error& error) {
  Range best = found;
  double least_error = error(found, HUGE_VAL);
  const auto attempt = [&](double low, double high) {
    if (!(low < high)) return;
    const Range range = quantizer.cover(low, high, grid, least);
    if (const double one = error(range, least_error); one < least_error) least_error = one, best = range;
  };
  constexpr int kPlaces = 768, kClose = 64, kRounds = 2;
  // Closer ends than that are no range of these values, however little their bins diverge.
  constexpr double kLeast = 0.3;
  // UNIFORM moves either end, the others both at once.
  const bool is_uniform = quantizer.method == QuantizationMethod::kUniform;
  const auto scan = [&](bool moves_high, double from, double to, int places) {
    const double reach = moves_high ? start.high : start.low;
    const Range fixed = best;
    for (int k = 1; k <= places; ++k) {
      const double end = reach * (from + (to - from) * k / places);
      if (!is_uniform)
        attempt(start.low < 0 ? -std::fabs(end) : 0, std::fabs(end));
      else if (moves_high)
        attempt(fixed.low, end);
      else
        attempt(end, fixed.high);
    }
  };
  for (int round = 0; round < (is_uniform ? kRounds : 1); ++round)
    for (const bool moves_high : {true, false}) {
      const double reach = moves_high ? start.high : start.low;
      if (reach == 0 || (!is_uniform && !moves_high)) continue;
      scan(moves_high, kLeast, 1, kPlaces);
      const double part = (moves_high ? best.high : best.low) / reach;
      scan(moves_high, part - 2.0 / kPlaces, part + 2.0 / kPlaces, kClose);
    }
  return best;
}

}  // namespace tersor::quant
