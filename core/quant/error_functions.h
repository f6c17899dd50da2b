// SPDX-License-Identifier: Apache-2.0
// The mean error sum w |x - x'|^p / sum w that quantizing makes, x' = (q - zero_point) * scale the nearest value on the
// grid. Sums are double, in one fixed order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/quant/histogram.h"
#include "core/quant/params.h"
#include "core/quant/threshold_search.h"

namespace tersor::quant {

/// The exponent p of a criterion that is a mean |error|^p. Error kInvalidConfig for one that is not, or for NOCLIPPING.
int error_exponent(const Criterion& criterion);

/// Values that stand at evenly spaced places: the bins of a histogram, each at its centre. Exact zeros are kept apart,
/// for every grid represents them.
class BinnedValues {
 public:
  BinnedValues(const Histogram& histogram, int p);
  /// `counts[i]` values at first + i * width.
  BinnedValues(double first, double width, std::vector<double> counts, double zeros, int p);

  double error(const Step& step, const IntegerGrid& grid) const;
  size_t bins() const { return counts_.size(); }

 private:
  using Moments = std::array<double, 4>;
  double cell_error(const Moments& from, const Moments& to, double value) const;
  double error_by_cells(const Step& step, const IntegerGrid& grid) const;
  double error_by_bins(const Step& step, const IntegerGrid& grid) const;

  double first_ = 0, width_ = 1, total_ = 0;
  int p_ = 2;
  std::vector<double> counts_;
  std::vector<Moments> sums_;  // sums_[i][k]: sum over the first i bins of count * x^k
};

/// The same for single values of equal weight.
double mean_error(std::span<const double> values, const Step& step, const IntegerGrid& grid, int p);

}  // namespace tersor::quant
