// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/pair_saturation.h"

#include <algorithm>
#include <cstdlib>

namespace tersor::simulate {

void PairSaturation::add_column(std::span<const int8_t> weights) {
  // The last of an odd number stands with a zero, and 255 * 128 does not saturate.
  for (size_t k = 0; k + 1 < weights.size(); k += 2)
    if (std::abs(weights[k]) + std::abs(weights[k + 1]) > 128)
      pairs_.push_back({static_cast<int32_t>(k), weights[k], weights[k + 1]});
  ends_.push_back(pairs_.size());
}

int64_t PairSaturation::apply(const int16_t* x, std::span<const int64_t> places, int32_t zero_point,
                              int32_t* sums) const {
  int64_t saturated = 0;
  size_t at = 0;
  for (size_t column = 0; column < ends_.size(); ++column) {
    int32_t change = 0;
    bool any = false;
    for (; at < ends_[column]; ++at) {
      const Pair& pair = pairs_[at];
      const auto k = static_cast<size_t>(pair.first);
      const int32_t exact = (x[places[k]] + zero_point) * pair.w0 + (x[places[k + 1]] + zero_point) * pair.w1;
      const int32_t kept = std::clamp(exact, -32768, 32767);
      change += kept - exact;
      any = any || kept != exact;
    }
    if (sums != nullptr)
      sums[column] = static_cast<int32_t>(static_cast<uint32_t>(sums[column]) + static_cast<uint32_t>(change));
    saturated += any ? 1 : 0;
  }
  return saturated;
}

}  // namespace tersor::simulate
