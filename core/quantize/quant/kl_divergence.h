// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/log_table.h"
#include "core/quant/params.h"

namespace tersor::quant {

/// The Kullback-Leibler divergence sum p ln(p / r) between the histogram of a range (p) and the same histogram after
/// each integer's values are spread evenly over its bins (r).
///
/// The definition is that of Sony's MCT. The range is represented by the bins f to l - 1. f is the bin in front of the
/// first edge at or above the lower end of the range; l is the last bin whose edge is below the upper end. p holds
/// their counts; the first and the last also count all values beyond. r gives each nonempty bin of an integer the
/// integer's sum / (its nonempty bins + 1e-6). A bin belongs to the integer nearest to its lower edge. Both p and r are
/// divided by their sums and smoothed. An empty bin gets half the least entry divided by the number of bins, and the
/// nonempty bins give that up in equal parts.
class KlDivergence {
 public:
  explicit KlDivergence(const EvenBins& bins);

  /// Infinite for a range without width or without values; 0 for a range within one bin.
  double of(const Range& range, const Step& step, const IntegerGrid& grid);
  /// The number of bins that represent the range.
  size_t covered_bins(const Range& range) const;

 private:
  /// Prefix sums over the nonempty bins, with c the count of a bin: of 1 and c in Held; of c ln c, ln c, 1 / c and 1 /
  /// c^2 in Sums.
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
  /// The bins [begin, end) that belong to one integer; the first is nonempty. `held` of them are nonempty, `counts` is
  /// their sum, and `each` is the share of each nonempty bin.
  struct Group {
    size_t begin = 0, end = 0;
    double held = 0, counts = 0, each = 0;
  };
  bool find_ends(double bins_per_step, double base, size_t codes);
  std::span<const Group> groups_of(const Window& window, const Step& step, const IntegerGrid& grid);

  EvenBins bins_;
  LogTable log_;
  std::vector<Held> held_;
  std::vector<size_t> next_;  // the first nonempty bin at or after this index
  std::vector<Sums> sums_;
  std::vector<Group> groups_;               // memory for groups_of(); no group has less than one bin
  std::vector<double> ends_;                // memory for find_ends()
  std::vector<std::vector<double>> least_;  // least_[k][i]: the least nonzero count of bins i to i + 2^k - 1
};

}  // namespace tersor::quant
