// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace tersor::ptq {

/// The factor by which the range of each channel is widened, because extremes of channels seen in few samples do not
/// hold on others: max(1, 16 / samples).
inline double caution_of(size_t samples) {
  constexpr double kEnough = 16;
  return std::max(1.0, kEnough / static_cast<double>(std::max<size_t>(samples, 1)));
}

}  // namespace tersor::ptq
