// SPDX-License-Identifier: Apache-2.0
// The mean error sum w |x - x'|^p / sum w that quantizing makes, x' = (q - zero_point) * scale the nearest value on the
// grid. Sums are double, in one fixed order.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/params.h"
#include "core/quant/threshold_search.h"
#include "core/tensor/tensor.h"

namespace tersor::quant {

/// The exponent p of a criterion that is a mean |error|^p. Error kInvalidConfig when it is not from 1 to 8.
std::optional<int> error_exponent(const Criterion& criterion);

/// Values that stand at the centres of evenly spaced bins.
class BinnedValues {
 public:
  BinnedValues(const EvenBins& bins, int p);

  /// Above `limit` some number above it.
  double error(const Step& step, const IntegerGrid& grid, double limit = HUGE_VAL) const;
  size_t bins() const { return counts_.size(); }

 private:
  template <int P>
  double cell_error(const double* from, const double* to, double value) const;
  template <int P>
  double error_by_cells(const Step& step, const IntegerGrid& grid, double limit) const;
  double error_by_bins(const Step& step, const IntegerGrid& grid) const;

  double first_ = 0, width_ = 1, total_ = 0;
  int p_ = 2;
  std::vector<double> counts_;
  std::vector<double> sums_;  // [i * (p + 1) + k]: sum over the first i bins of count * x^k
};

/// The same for single values. They weigh alike, or as much as `importance` says, which has one entry per value, none
/// below 0.
double mean_error(std::span<const double> values, const Step& step, const IntegerGrid& grid, int p,
                  std::span<const double> importance = {}, double limit = HUGE_VAL);

/// 10 log10(signal / noise); infinite where there is no noise.
double decibels(double signal, double noise);
/// 10 log10(sum x^2 / sum (x - x')^2): how far the signal stands above the noise of quantizing it, in dB. Infinite
/// where there is no noise.
double sqnr_db(const EvenBins& bins, const Step& step, const IntegerGrid& grid);
/// The same of a tensor and what became of it, both float32.
double sqnr_db(const Tensor& exact, const Tensor& quantized);

}  // namespace tersor::quant
