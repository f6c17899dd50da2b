// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/quant/histogram.h"

namespace tersor::ptq {

/// The histogram of a tensor of which only the extremes are known: half of the elements at each end, so that a search
/// for its range clips nothing.
inline quant::Histogram two_ends(float low, float high, uint64_t elements) {
  const int exponent = quant::Histogram::exponent_for(low, high);
  const int32_t first = quant::Histogram::bin_of(low, exponent);
  std::vector<uint64_t> counts(static_cast<size_t>(quant::Histogram::bin_of(high, exponent) - first) + 1, 0);
  counts.front() += elements - elements / 2;
  counts.back() += elements / 2;
  return quant::Histogram::of_counts(low, high, exponent, first, counts, 0);
}

/// True if the histogram holds values only in its first and last bin.
inline bool is_two_ends(const quant::Histogram& histogram) {
  const auto counts = histogram.counts();
  if (counts.size() < 3) return false;
  for (size_t i = 1; i + 1 < counts.size(); ++i)
    if (counts[i] != 0) return false;
  return true;
}

}  // namespace tersor::ptq
