// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>

#include "core/quant/histogram.h"
#include "core/quant/threshold_search.h"

namespace tersor::quant {

/// A cache of the results of select_activation_range(). Corrections and trials select the ranges of a model several
/// times, and most tensors do not change in between. Not thread-safe.
class RangeMemo {
 public:
  /// Returns select_activation_range() of the same arguments.
  const RangeSelection& select(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                               const Criterion& criterion, const Range& limits,
                               const std::optional<Range>& mean_extremes);

 private:
  struct Question {
    Histogram histogram;
    QuantizationMethod method;
    IntegerGrid grid;
    Criterion criterion;
    Range limits;
    std::optional<Range> mean_extremes;
    bool operator==(const Question&) const = default;
  };
  struct Known {
    Question question;
    RangeSelection answer;
  };

  std::unordered_multimap<uint64_t, Known> known_;  // keyed by a hash of a few members of the histogram
};

}  // namespace tersor::quant
