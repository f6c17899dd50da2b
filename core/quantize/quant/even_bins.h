// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/quant/histogram.h"
#include "core/quant/params.h"

namespace tersor::quant {

/// A histogram in the form that the selection methods use. Bin i is [first + i * width, first + (i + 1) * width), and
/// its values are taken to lie at its centre. Counts may be fractions, or sums of weights. Exact zeros are counted
/// separately where they are known, because every grid represents them.
struct EvenBins {
  double first = 0;
  double width = 1;
  std::vector<double> counts;
  double zeros = 0;
  Range extremes;  // the least and the greatest value

  double edge(size_t i) const { return first + static_cast<double>(i) * width; }
  double center(size_t i) const { return first + width / 2 + static_cast<double>(i) * width; }
  double total() const;
  /// True if only exact zeros were counted.
  bool all_zero() const;
};

EvenBins bins_of(const Histogram& histogram);

/// numpy.histogram in double: `count` bins between the extremes of the values. If all values are equal, they lie in the
/// middle of a range of width 1. Each value counts 1 or its weight.
EvenBins even_histogram(std::span<const double> values, size_t count, std::span<const double> weights = {});

/// Distributes the counts over `count` bins from `low` to `high`. Values are taken to lie evenly within each old bin;
/// values outside go to the outermost new bins.
EvenBins rebin(const EvenBins& bins, double low, double high, size_t count);

/// Empties the bins whose lower edge is more than `z` standard deviations away from the mean of the lower edges,
/// weighted by their counts, and moves the extremes to the bins that are left.
void remove_outliers(EvenBins& bins, double z);

}  // namespace tersor::quant
