// SPDX-License-Identifier: Apache-2.0
#include "core/quant/error_functions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/tensor/rounding.h"

namespace tersor::quant {

namespace {

/// Up to this p a cell's error is taken from sums of x^k; above, cancellation would leave too few digits.
constexpr int kMostSums = 3;

double power(double x, int p) {
  double result = x;
  for (int k = 1; k < p; ++k) result *= x;
  return result;
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

struct ErrorFunction {
  ThresholdSelectionMethod method;
  int p;  // 0: the criterion's own
};

constexpr ErrorFunction kErrorFunctions[] = {
    {ThresholdSelectionMethod::kMae, 1},
    {ThresholdSelectionMethod::kMse, 2},
    {ThresholdSelectionMethod::kLp, 0},
};

}  // namespace

int error_exponent(const Criterion& criterion) {
  for (const ErrorFunction& one : kErrorFunctions) {
    if (one.method != criterion.method) continue;
    const int p = one.p == 0 ? criterion.p : one.p;
    if (p < 1 || p > 8)
      throw Error(ErrorCode::kInvalidConfig, "l_p_value is " + std::to_string(p) + "; 1 to 8 are possible.");
    return p;
  }
  throw Error(ErrorCode::kInvalidConfig,
              "The threshold selection method " + std::string(enum_word(criterion.method)) +
                  " does not act yet in this version.",
              "", "Use NOCLIPPING, MSE, MAE or Lp.");
}

BinnedValues::BinnedValues(const Histogram& histogram, int p)
    : BinnedValues(histogram.empty() ? 0.0 : histogram.center(0), histogram.bin_width(),
                   std::vector<double>(histogram.counts().begin(), histogram.counts().end()), 0, p) {
  if (histogram.zeros() == 0) return;
  std::vector<double> counts = counts_;
  counts[static_cast<size_t>(-histogram.first_bin())] -= static_cast<double>(histogram.zeros());
  *this = BinnedValues(first_, width_, std::move(counts), static_cast<double>(histogram.zeros()), p);
}

BinnedValues::BinnedValues(double first, double width, std::vector<double> counts, double zeros, int p)
    : first_(first), width_(width), total_(zeros), p_(p), counts_(std::move(counts)) {
  for (const double count : counts_) total_ += count;
  if (p_ > kMostSums) return;
  for (int k = 0; k <= p_; ++k) {
    sums_[k].reserve(counts_.size() + 1);
    sums_[k].push_back(0);
    for (size_t i = 0; i < counts_.size(); ++i) {
      const double x = first_ + static_cast<double>(i) * width_;
      sums_[k].push_back(sums_[k].back() + (k == 0 ? counts_[i] : counts_[i] * power(x, k)));
    }
  }
}

double BinnedValues::error(const Step& step, const IntegerGrid& grid) const {
  if (!(step.scale > 0)) return HUGE_VAL;
  if (total_ == 0) return 0;
  const double levels = grid.q_max() - grid.q_min() + 1.0;
  const bool by_cells = p_ <= kMostSums && levels < static_cast<double>(counts_.size());
  return (by_cells ? error_by_cells(step, grid) : error_by_bins(step, grid)) / total_;
}

double BinnedValues::error_by_bins(const Step& step, const IntegerGrid& grid) const {
  const Nearest nearest(step, grid);
  double sum = 0;
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] != 0) sum += counts_[i] * power(nearest.error(first_ + static_cast<double>(i) * width_), p_);
  return sum;
}

/// Sum of count * |x - value|^p over bins [begin, end), all on one side of `value`, by expanding the power.
double BinnedValues::cell_error(size_t begin, size_t end, double value) const {
  const auto moment = [&](int k) { return sums_[k][end] - sums_[k][begin]; };
  if (p_ == 1) return moment(1) - value * moment(0);
  if (p_ == 2) return moment(2) - 2 * value * moment(1) + value * value * moment(0);
  return moment(3) - 3 * value * moment(2) + 3 * value * value * moment(1) - value * value * value * moment(0);
}

/// Each integer stands for one cell of bins; the lowest and the highest take all that lies beyond.
double BinnedValues::error_by_cells(const Step& step, const IntegerGrid& grid) const {
  const double count = static_cast<double>(counts_.size());
  // Bins whose centre is below (k + offset) * scale, in units of bins: steps * k + base.
  const double steps = step.scale / width_, base = -first_ / width_;
  const auto bins_below = [&](double k) {
    return static_cast<size_t>(std::clamp(std::ceil(steps * k + base), 0.0, count));
  };
  const int32_t low = grid.q_min() - step.zero_point, high = grid.q_max() - step.zero_point;
  // Cells in front of the first bin are empty.
  const double first_cell = std::floor(-base / steps) - 1;
  int32_t k = first_cell > low ? static_cast<int32_t>(std::min<double>(first_cell, high)) : low;
  double sum = 0;
  for (size_t begin = 0; begin < counts_.size(); ++k) {
    const size_t end = k >= high ? counts_.size() : bins_below(k + 0.5);
    const double value = k * step.scale;
    if (end > begin) {
      if (p_ == 2) {
        sum += cell_error(begin, end, value);
      } else {
        const size_t middle = std::clamp(bins_below(k), begin, end);
        sum += cell_error(middle, end, value) - cell_error(begin, middle, value);
      }
    }
    begin = end;
  }
  return std::max(sum, 0.0);
}

double mean_error(std::span<const double> values, const Step& step, const IntegerGrid& grid, int p) {
  if (!(step.scale > 0)) return HUGE_VAL;
  if (values.empty()) return 0;
  const Nearest nearest(step, grid);
  // Four sums, so that one addition need not wait for the last.
  double sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= values.size(); i += 4)
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += power(nearest.error(values[i + lane]), p);
  for (; i < values.size(); ++i) sums[i % 4] += power(nearest.error(values[i]), p);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<double>(values.size());
}

}  // namespace tersor::quant
