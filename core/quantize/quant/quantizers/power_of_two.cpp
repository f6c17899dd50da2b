// SPDX-License-Identifier: Apache-2.0
// POWER_OF_TWO: SYMMETRIC with a threshold t = 2^k, so that rescaling is a shift.
//   scale = t / 2^(n_bits - 1) signed, t / 2^n_bits unsigned; zero point 0
#include <algorithm>
#include <cmath>

#include "core/quant/quantizers/quantizers.h"

namespace tersor::quant {

double power_of_two_above(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);  // x = mantissa * 2^exponent, mantissa in [0.5, 1)
  return std::ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

namespace {

Range range_of(double threshold, bool is_signed) {
  return {is_signed ? -threshold : 0.0, threshold};
}

Step step_of(const Range& range, const IntegerGrid& grid) {
  return {std::ldexp(range.high, grid.is_signed ? 1 - grid.n_bits : -grid.n_bits), 0};
}

int32_t zero_point_of(const Range&, const IntegerGrid&, float) {
  return 0;
}

Range cover(double min, double max, const IntegerGrid& grid, double min_threshold) {
  const double magnitude = std::max(grid.is_signed ? std::fabs(min) : 0.0, std::fabs(max));
  return range_of(power_of_two_above(std::max(magnitude, min_threshold)), grid.is_signed);
}

/// Twice the covering threshold, then halves of it.
Range search(const Range& start, const RangeError& error, const SearchEffort& effort, double min_threshold) {
  const bool is_signed = start.low < 0;
  double best = 2 * start.high, least = error(range_of(best, is_signed), HUGE_VAL);
  double threshold = best;
  for (int k = 1; k < effort.power_candidates; ++k) {
    threshold /= 2;
    const double found = error(range_of(threshold, is_signed), least);
    if (found < least) best = threshold, least = found;
  }
  return range_of(power_of_two_above(std::max(best, min_threshold)), is_signed);
}

}  // namespace

const Quantizer kPowerOfTwoQuantizer{QuantizationMethod::kPowerOfTwo, step_of, zero_point_of, cover, search};

}  // namespace tersor::quant
