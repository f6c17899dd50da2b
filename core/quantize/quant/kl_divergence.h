// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/log_table.h"
#include "core/quant/params.h"

namespace tersor::quant {

/// The Kullback-Leibler divergence between how values are spread over the bins of a range and how they are spread once
/// each integer's bins share its values evenly: sum p ln(p / r).
///
/// The definition is that of Sony's MCT. The bins f to l - 1 stand for the range, f being the bin before the first
/// edge at or above its lower end and l the last whose edge is below its upper end. p counts them, the first and the
/// last with all that lies beyond; r gives each bin that holds something its integer's sum / (bins that hold something
/// + 1e-6). Both are divided by their sums and smoothed: an empty bin gets half the least entry divided by the number
/// of bins, and the others give that up in equal parts. A bin belongs to the integer nearest its lower edge.
class KlDivergence {
 public:
  explicit KlDivergence(const EvenBins& bins);

  /// Infinite for a range of no width or without values; 0 when it is within one bin.
  double of(const Range& range, const Step& step, const IntegerGrid& grid);
  /// How many bins stand for the range.
  size_t covered_bins(const Range& range) const;

 private:
  /// Sums over the first bins that hold something, of count c: 1, c; and c ln c, ln c, 1 / c, 1 / c^2.
  struct Held {
    double bins = 0, counts = 0;
  };
  struct Sums {
    double entropy = 0, logarithms = 0, inverse = 0, inverse_square = 0;
  };
  struct Window {
    size_t begin = 0, end = 0;  // bins f and l
    bool empty = true;
  };
  struct Smooth;
  Window window_of(const Range& range) const;
  double least_count(size_t begin, size_t end) const;
  size_t edges_below(double place) const;
  double x_log_x(double x) const;  // 0 at 0
  double plain_entropy(size_t begin, size_t end, double loss) const;
  /// Bins [begin, end) that go to one integer, how many of them hold something, and what; `each` is what those get. The
  /// first holds something.
  struct Group {
    size_t begin = 0, end = 0;
    double held = 0, counts = 0, each = 0;
  };
  bool find_ends(double bins_per_step, double base, size_t codes);
  std::span<const Group> groups_of(const Window& window, const Step& step, const IntegerGrid& grid);

  EvenBins bins_;
  LogTable log_;
  std::vector<Held> held_;
  std::vector<size_t> next_;  // the first bin from here on that holds something
  std::vector<Sums> sums_;
  std::vector<Group> groups_;               // room for groups_of(): none has less than a bin
  std::vector<double> ends_;                // room for find_ends()
  std::vector<std::vector<double>> least_;  // least_[k][i]: of the counts above 0 in bins i to i + 2^k - 1
};

}  // namespace tersor::quant
