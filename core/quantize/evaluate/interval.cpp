// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/interval.h"

#include <algorithm>
#include <cmath>

namespace tersor::evaluate {

Interval wilson_interval(int64_t correct, int64_t count) {
  if (count == 0) return {};
  constexpr double kZ = 1.959963984540054;  // the 97.5 % point of the normal distribution
  const double n = static_cast<double>(count), share = static_cast<double>(correct) / n;
  const double denominator = 1 + kZ * kZ / n;
  const double center = (share + kZ * kZ / (2 * n)) / denominator;
  const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / denominator;
  // At the ends the formula gives 0 and 1 but for rounding.
  return {correct == 0 ? 0.0 : std::max(center - half, 0.0), correct == count ? 1.0 : std::min(center + half, 1.0),
          0.95};
}

std::optional<DecibelRange> prediction_range(std::span<const double> decibels) {
  if (decibels.size() < 4) return std::nullopt;
  const auto n = static_cast<double>(decibels.size());
  double sum = 0, squares = 0;
  for (const double one : decibels) sum += one;
  const double mean = sum / n;
  for (const double one : decibels) squares += (one - mean) * (one - mean);
  constexpr double kZ = 1.6448536269514722;  // the 95 % point of the normal distribution
  const double degrees = n - 1, z2 = kZ * kZ;
  const double t = kZ + kZ * (z2 + 1) / (4 * degrees) + kZ * ((5 * z2 + 16) * z2 + 3) / (96 * degrees * degrees);
  const double half = t * std::sqrt(squares / degrees * (1 + 1 / n));
  return DecibelRange{mean - half, mean + half};
}

}  // namespace tersor::evaluate
