// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace tersor::ptq {

/// How many times as far as it was seen to reach a channel is taken to reach. Extremes by channel of few samples do not
/// hold on others.
inline double caution_of(size_t samples) {
  constexpr double kEnough = 16;
  return std::max(1.0, kEnough / static_cast<double>(std::max<size_t>(samples, 1)));
}

}  // namespace tersor::ptq
