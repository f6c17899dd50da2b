// SPDX-License-Identifier: Apache-2.0
#include "core/quant/scan_ends.h"

#include <cmath>

namespace tersor::quant {

Range scan_ends(const Quantizer& quantizer, const IntegerGrid& grid, const Range& start, const Range& found,
                double least, const RangeError& error) {
  constexpr int kPlaces = 768, kClose = 64, kRounds = 2;
  // Closer ends than that are no range of these values, however little their bins diverge.
  constexpr double kLeast = 0.3;
  // UNIFORM moves either end, the others both at once.
  const bool is_uniform = quantizer.method == QuantizationMethod::kUniform;
  Range best = found;
  double least_error = error(found, HUGE_VAL);
  const auto scan = [&](bool moves_high, double from, double to, int places) {
    const double reach = moves_high ? start.high : start.low;
    const Range fixed = best;
    for (int k = 1; k <= places; ++k) {
      const double end = reach * (from + (to - from) * k / places);
      double low = moves_high ? fixed.low : end, high = moves_high ? end : fixed.high;
      if (!is_uniform) low = start.low < 0 ? -std::fabs(end) : 0, high = std::fabs(end);
      if (!(low < high)) continue;
      const Range range = quantizer.cover(low, high, grid, least);
      if (const double one = error(range, least_error); one < least_error) least_error = one, best = range;
    }
  };
  for (int pass = 0; pass < (is_uniform ? 2 * kRounds : 1); ++pass) {
    const bool moves_high = pass % 2 == 0;
    const double reach = moves_high ? start.high : start.low;
    if (reach == 0) continue;
    scan(moves_high, kLeast, 1, kPlaces);
    const double part = (moves_high ? best.high : best.low) / reach;
    scan(moves_high, part - 2.0 / kPlaces, part + 2.0 / kPlaces, kClose);
  }
  return best;
}

}  // namespace tersor::quant
