// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>

#include "core/quant/histogram.h"
#include "core/quant/threshold_search.h"

namespace tersor::quant {

/// What select_activation_range() gave, for the next time that it is asked the same: corrections and trials choose the
/// ranges of a model several times over, and most tensors stay as they were. Not to be shared between threads.
class RangeMemo {
 public:
  /// As select_activation_range().
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

  std::unordered_multimap<uint64_t, Known> known_;  // by what is quickly read of a histogram
};

}  // namespace tersor::quant
