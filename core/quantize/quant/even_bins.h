// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/quant/histogram.h"
#include "core/quant/params.h"

namespace tersor::quant {

/// How many values lie where, as selection methods want it: bin i is [first + i * width, first + (i + 1) * width), each
/// taken to stand at its centre. Counts may be fractions, or sums of weights. Exact zeros are kept apart where they are
/// known, for every grid represents them.
struct EvenBins {
  double first = 0;
  double width = 1;
  std::vector<double> counts;
  double zeros = 0;
  Range extremes;  // the least and the greatest value

  double edge(size_t i) const { return first + static_cast<double>(i) * width; }
  double center(size_t i) const { return first + width / 2 + static_cast<double>(i) * width; }
  double total() const;
  /// Whether nothing but exact zeros was counted.
  bool all_zero() const;
};

EvenBins bins_of(const Histogram& histogram);

/// numpy.histogram in double: `count` bins between the extremes of the values; values that are all alike stand in the
/// middle of a range of width 1. Each counts 1, or its `weight`.
EvenBins even_histogram(std::span<const double> values, size_t count, std::span<const double> weights = {});

/// The counts in `count` bins from `low` to `high`: values lie evenly within each old bin, and what lies outside joins
/// the outermost.
EvenBins rebin(const EvenBins& bins, double low, double high, size_t count);

/// Empties the bins whose lower edge lies more than `z` standard deviations from the mean of the edges.
void remove_outliers(EvenBins& bins, double z);

}  // namespace tersor::quant
