// SPDX-License-Identifier: Apache-2.0
#include "core/quant/range_memo.h"

#include <utility>

namespace tersor::quant {

const RangeSelection& RangeMemo::select(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                                        const Criterion& criterion, const Range& limits,
                                        const std::optional<Range>& mean_extremes) {
  Question question{histogram, method, grid, criterion, limits, mean_extremes};
  const std::hash<float> hash;
  const uint64_t key = hash(histogram.min()) * 31 + hash(histogram.max()) * 17 + histogram.total() * 7 +
                       histogram.zeros() + static_cast<uint64_t>(grid.n_bits);
  const auto [first, last] = known_.equal_range(key);
  for (auto one = first; one != last; ++one)
    if (one->second.question == question) return one->second.answer;
  const RangeSelection answer = select_activation_range(histogram, method, grid, criterion, limits, mean_extremes);
  return known_.emplace(key, Known{std::move(question), answer})->second.answer;
}

}  // namespace tersor::quant
