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

}  // namespace tersor::evaluate
