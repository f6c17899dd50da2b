// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/pair_saturation.h"

#include <algorithm>
#include <cstdlib>

namespace tersor::simulate {

PairSaturation::PairSaturation(std::span<const int8_t> weights, size_t rows)
    : columns_(rows == 0 ? 0 : weights.size() / rows) {
  // The last of an odd number stands with a zero, and 255 * 128 does not saturate; nor do weights of unlike signs.
  for (size_t k = 0; k + 1 < rows; k += 2) {
    const size_t begin = pairs_.size();
    for (size_t column = 0; column < columns_; ++column) {
      const int8_t w0 = weights[column * rows + k], w1 = weights[column * rows + k + 1];
      const int sum = std::abs(w0 + w1);
      if (sum > 128) pairs_.push_back({static_cast<int32_t>(column), w0, w1, 32767 / sum + 1});
    }
    if (pairs_.size() == begin) continue;
    std::sort(pairs_.begin() + static_cast<std::ptrdiff_t>(begin), pairs_.end(),
              [](const Pair& a, const Pair& b) { return a.least < b.least; });
    places_.push_back({k, pairs_[begin].least, pairs_.size()});
  }
}

int64_t PairSaturation::apply(const int16_t* x, std::span<const int64_t> places, int32_t zero_point,
                              int32_t* sums) const {
  std::vector<bool> is_saturated;
  int64_t saturated = 0;
  size_t at = 0;
  for (const Place& place : places_) {
    const int32_t x0 = x[places[place.first]] + zero_point, x1 = x[places[place.first + 1]] + zero_point;
    const int32_t most = std::max(x0, x1);
    if (most >= place.least) {
      for (; at < place.end && pairs_[at].least <= most; ++at) {
        const Pair& pair = pairs_[at];
        const int32_t exact = x0 * pair.w0 + x1 * pair.w1, kept = std::clamp(exact, -32768, 32767);
        if (kept == exact) continue;
        const auto column = static_cast<size_t>(pair.column);
        is_saturated.resize(columns_);
        if (!is_saturated[column]) is_saturated[column] = true, ++saturated;
        if (sums == nullptr) continue;
        int32_t& sum = sums[column];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(kept - exact));
      }
    }
    at = place.end;
  }
  return saturated;
}

}  // namespace tersor::simulate
