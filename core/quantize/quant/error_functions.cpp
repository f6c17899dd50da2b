// SPDX-License-Identifier: Apache-2.0
#include "core/quant/error_functions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/kernels/transcendental.h"
#include "core/quant/whole_number.h"
#include "core/tensor/rounding.h"

namespace tersor::quant {

namespace {

/// A cell's error is taken from sums of x^k. What cancels grows as levels^p: above this it would leave too few digits.
constexpr double kMostCancelled = 1e10;

double power(double x, int p) {
  double result = x;
  for (int k = 1; k < p; ++k) result *= x;
  return result;
}

/// power() of the three usual exponents without a loop; P = 0: any.
template <int P>
double power_of(double x, int p) {
  if constexpr (P == 1) return x;
  if constexpr (P == 2) return x * x;
  if constexpr (P == 3) return x * x * x;
  return power(x, p);
}

/// Calls `function` with p as a constant where it is a usual one.
template <class Function>
double with_exponent(int p, Function&& function) {
  if (p == 1) return function(std::integral_constant<int, 1>());
  if (p == 2) return function(std::integral_constant<int, 2>());
  if (p == 3) return function(std::integral_constant<int, 3>());
  return function(std::integral_constant<int, 0>());
}

/// The error of one value, as a whole number of steps from zero.
class Nearest {
 public:
  Nearest(const Step& step, const IntegerGrid& grid)
      : scale_(step.scale),
        inverse_(1 / step.scale),
        low_(grid.q_min() - step.zero_point),
        high_(grid.q_max() - step.zero_point) {}
  double error(double x) const {
    const double q = round_half_even_small(std::min(std::max(x * inverse_, low_), high_));
    return std::fabs(x - q * scale_);
  }

 private:
  double scale_, inverse_, low_, high_;
};

}  // namespace

std::optional<int> error_exponent(const Criterion& criterion) {
  switch (criterion.method) {
    case ThresholdSelectionMethod::kMse:
    case ThresholdSelectionMethod::kHmse:
      return 2;
    case ThresholdSelectionMethod::kMae:
      return 1;
    case ThresholdSelectionMethod::kLp:
      if (criterion.p < 1 || criterion.p > 8)
        throw Error(ErrorCode::kInvalidConfig,
                    "l_p_value is " + std::to_string(criterion.p) + "; 1 to 8 are possible.");
      return criterion.p;
    default:
      return std::nullopt;
  }
}

BinnedValues::BinnedValues(const EvenBins& bins, int p)
    : first_(bins.center(0)), width_(bins.width), total_(bins.total()), p_(p), counts_(bins.counts) {
  const size_t moments = static_cast<size_t>(p_) + 1;
  sums_.resize((counts_.size() + 1) * moments);
  for (size_t i = 0; i < counts_.size(); ++i) {
    const double x = first_ + static_cast<double>(i) * width_;
    const double powers[4] = {1, x, x * x, x * x * x};
    const double* last = &sums_[i * moments];
    double* next = &sums_[(i + 1) * moments];
    double powered = powers[3];
    for (size_t k = 0; k < moments; ++k) next[k] = last[k] + counts_[i] * (k < 4 ? powers[k] : powered *= x);
  }
}

double BinnedValues::error(const Step& step, const IntegerGrid& grid, double limit) const {
  if (!(step.scale > 0)) return HUGE_VAL;
  if (total_ == 0) return 0;
  const double levels = grid.q_max() - grid.q_min() + 1.0;
  const bool by_cells =
      levels < static_cast<double>(counts_.size()) && (p_ <= 3 || power(levels, p_) <= kMostCancelled);
  // What the cells lose by cancelling is far below this margin.
  const double enough = limit * total_ * (1 + 1e-9);
  const double sum = by_cells ? with_exponent(p_, [&](auto p) { return error_by_cells<p.value>(step, grid, enough); })
                              : error_by_bins(step, grid);
  return sum / total_;
}

double BinnedValues::error_by_bins(const Step& step, const IntegerGrid& grid) const {
  const Nearest nearest(step, grid);
  return with_exponent(p_, [&](auto exponent) {
    double sum = 0;
    for (size_t i = 0; i < counts_.size(); ++i)
      sum += counts_[i] * power_of<exponent.value>(nearest.error(first_ + static_cast<double>(i) * width_), p_);
    return sum;
  });
}

/// Sum of count * |x - value|^p over bins all on one side of `value` by expanding the power; m[k] is the sum of
/// count * x^k. For an odd p it is negative where the bins are below.
template <int P>
double BinnedValues::cell_error(const double* from, const double* to, double value) const {
  if constexpr (P >= 1) {
    const double m0 = to[0] - from[0], m1 = to[1] - from[1];
    if constexpr (P == 1) return m1 - value * m0;
    const double m2 = to[2] - from[2];
    if constexpr (P == 2) return m2 - 2 * value * m1 + value * value * m0;
    return (to[3] - from[3]) - 3 * value * m2 + 3 * value * value * m1 - value * value * value * m0;
  }
  double sum = 0, binomial = 1;  // Horner's rule in -value: the sum of binomial * x^k * (-value)^(p - k)
  for (int k = 0; k <= p_; ++k) {
    sum = sum * -value + binomial * (to[k] - from[k]);
    binomial = binomial * (p_ - k) / (k + 1);
  }
  return sum;
}

/// Each integer stands for one cell of bins; the lowest and the highest take all that lies beyond. Those two are looked
/// at first where there is a limit: a range that cuts too much off needs no more.
template <int P>
double BinnedValues::error_by_cells(const Step& step, const IntegerGrid& grid, double limit) const {
  const size_t bins = counts_.size(), moments = static_cast<size_t>(P > 0 ? P : p_) + 1;
  const double count = static_cast<double>(bins);
  // Bins whose centre is below (k + offset) * scale: the ceiling of that place in units of bins.
  const double steps = step.scale / width_, base = -first_ / width_;
  const auto bins_below = [&](double k) {
    const double place = steps * k + base;
    if (!(place > 0)) return size_t{0};
    if (place >= count) return bins;
    // Not by std::ceil, which is a call where SSE4 may be missing.
    const double nearest = round_half_even_small(place);
    return static_cast<size_t>(whole_number(nearest)) + (nearest < place ? 1 : 0);
  };
  const int32_t low = grid.q_min() - step.zero_point, high = grid.q_max() - step.zero_point;
  // Of the bins [begin, end), which stand for the integer k.
  const auto error_of = [&](int32_t k, size_t begin, size_t end) {
    const double value = k * step.scale;
    const double *from = &sums_[begin * moments], *to = &sums_[end * moments];
    if (P == 2 || (P == 0 && p_ % 2 == 0)) return cell_error<P>(from, to, value);
    const double* middle = &sums_[std::clamp(bins_below(k), begin, end) * moments];
    return cell_error<P>(middle, to, value) - cell_error<P>(from, middle, value);
  };
  if (limit < HUGE_VAL &&
      error_of(low, 0, bins_below(low + 0.5)) + error_of(high, bins_below(high - 0.5), bins) > limit)
    return HUGE_VAL;
  // Cells before the first bin are empty.
  const double first_cell = std::floor(-base / steps) - 1;
  int32_t k = first_cell > low ? static_cast<int32_t>(std::min<double>(first_cell, high)) : low;
  double sum = 0;
  for (size_t begin = 0; begin < bins && sum <= limit; ++k) {
    const size_t end = k >= high ? bins : bins_below(k + 0.5);
    if (end > begin) sum += error_of(k, begin, end);
    begin = end;
  }
  return std::max(sum, 0.0);
}

namespace {

/// Four sums, so that one addition need not wait for the last.
struct FourSums {
  double lanes[4] = {};
  double total() const { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
};

/// Calls `one(i, lane)` for the places from `begin`, a multiple of four.
template <class One>
void in_fours(size_t begin, size_t end, One&& one) {
  size_t i = begin;
  for (; i + 4 <= end; i += 4)
    for (size_t lane = 0; lane < 4; ++lane) one(i + lane, lane);
  for (; i < end; ++i) one(i, i % 4);
}

}  // namespace

double mean_error(std::span<const double> values, const Step& step, const IntegerGrid& grid, int p,
                  std::span<const double> importance, double limit) {
  if (!(step.scale > 0)) return HUGE_VAL;
  if (values.empty()) return 0;
  const Nearest nearest(step, grid);
  constexpr size_t kBetweenLooks = 256;
  const double enough = limit * static_cast<double>(values.size());
  return with_exponent(p, [&](auto exponent) {
    FourSums sums;
    const double* x = values.data();
    const auto one = [&](size_t i) {
      const double error = power_of<exponent.value>(nearest.error(x[i]), p);
      return importance.empty() ? error : importance[i] * error;
    };
    for (size_t begin = 0; begin < values.size() && sums.total() <= enough; begin += kBetweenLooks)
      in_fours(begin, std::min(begin + kBetweenLooks, values.size()),
               [&](size_t i, size_t lane) { sums.lanes[lane] += one(i); });
    return sums.total() / static_cast<double>(values.size());
  });
}

double decibels(double signal, double noise) {
  if (!(noise > 0)) return HUGE_VAL;
  if (!(signal > 0)) return -HUGE_VAL;
  constexpr double kPerNeper = 4.3429448190325182765;  // 10 / ln 10
  return kPerNeper * (kernels::natural_logarithm(signal) - kernels::natural_logarithm(noise));
}

double sqnr_db(const EvenBins& bins, const Step& step, const IntegerGrid& grid) {
  if (!(step.scale > 0)) return HUGE_VAL;
  const Nearest nearest(step, grid);
  double signal = 0, noise = 0;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const double x = bins.center(i), error = nearest.error(x);
    signal += bins.counts[i] * (x * x);
    noise += bins.counts[i] * (error * error);
  }
  return decibels(signal, noise);
}

double sqnr_db(const Tensor& exact, const Tensor& quantized) {
  const Tensor aligned = exact.aligned();
  const auto x = aligned.data<float>(), back = quantized.data<float>();
  FourSums signal, noise;
  in_fours(0, x.size(), [&](size_t i, size_t lane) {
    const double value = static_cast<double>(x[i]), error = value - static_cast<double>(back[i]);
    signal.lanes[lane] += value * value;
    noise.lanes[lane] += error * error;
  });
  return decibels(signal.total(), noise.total());
}

}  // namespace tersor::quant
