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
              [](const kernels::WeightPair& a, const kernels::WeightPair& b) { return a.least < b.least; });
    places_.push_back({k, pairs_[begin].least, pairs_.size()});
  }
}

int64_t PairSaturation::apply(const Rows& rows, int32_t* sums, int64_t sums_step) const {
  if (pairs_.empty()) return 0;
  constexpr auto kRows = static_cast<int64_t>(kernels::kPairRows);
  std::vector<int32_t> changes(columns_ * kernels::kPairRows), marks(changes.size());
  int64_t saturated = 0;
  for (int64_t first = 0; first < rows.count; first += kRows) {
    const int64_t count = std::min(kRows, rows.count - first);
    const int16_t* pointers[kRows];
    for (int64_t r = 0; r < kRows; ++r) pointers[r] = rows.x + (first + std::min(r, count - 1)) * rows.x_step;
    kernels::saturate_pairs(places_, pairs_, {pointers, rows.places, rows.zero_point}, changes.data(), marks.data());
    for (size_t column = 0; column < columns_; ++column)
      for (int64_t r = 0; r < count; ++r) {
        const size_t at = column * kernels::kPairRows + static_cast<size_t>(r);
        saturated += marks[at] != 0;
        if (sums == nullptr) continue;
        int32_t& sum = sums[(first + r) * sums_step + static_cast<int64_t>(column)];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(changes[at]));
      }
    std::fill(changes.begin(), changes.end(), 0);
    std::fill(marks.begin(), marks.end(), 0);
  }
  return saturated;
}

}  // namespace tersor::simulate
