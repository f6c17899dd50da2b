// SPDX-License-Identifier: Apache-2.0
// The mean error of quantization: sum w |x - x'|^p / sum w, where x' = (q - zero_point) * scale is the value on the
// grid nearest to x. Sums are computed in double and in one fixed order.
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

/// The exponent p of a criterion whose error is the mean of |error|^p; nothing for other criteria. Error kInvalidConfig
/// if p is not in 1 to 8.
std::optional<int> error_exponent(const Criterion& criterion);

/// Values at the centres of evenly spaced bins, prepared for fast evaluation of the mean error.
class BinnedValues {
 public:
  BinnedValues(const EvenBins& bins, int p);

  /// The mean error; if it is above `limit`, any number above `limit`.
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

/// The mean error of single values. `importance` has a weight for each value, none below 0; empty weights all alike. If
/// the error is above `limit`, returns any number above `limit`.
double mean_error(std::span<const double> values, const Step& step, const IntegerGrid& grid, int p,
                  std::span<const double> importance = {}, double limit = HUGE_VAL);

/// 10 log10(signal / noise); infinite if there is no noise.
double decibels(double signal, double noise);
/// The SQNR in dB: 10 log10(sum x^2 / sum (x - x')^2); infinite if there is no noise.
double sqnr_db(const EvenBins& bins, const Step& step, const IntegerGrid& grid);
/// The same for two float32 tensors.
double sqnr_db(const Tensor& exact, const Tensor& quantized);

}  // namespace tersor::quant
