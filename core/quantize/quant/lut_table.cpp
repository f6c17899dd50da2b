// SPDX-License-Identifier: Apache-2.0
#include "core/quant/lut_table.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace tersor::quant {

double lut_place(double x, double threshold, const LutValues& values) {
  constexpr double kSmall = 1e-8;
  const double scaled = x / (threshold + kSmall) * std::ldexp(1.0, values.value_bits - (values.is_signed ? 1 : 0));
  return std::min(std::max(scaled, static_cast<double>(values.low())), static_cast<double>(values.high()));
}

size_t nearest_entry(std::span<const int32_t> table, double place) {
  const auto above = std::lower_bound(table.begin(), table.end(), place);
  const auto k = static_cast<size_t>(above - table.begin());
  if (k == 0) return 0;
  return k == table.size() || place - table[k - 1] <= table[k] - place ? k - 1 : k;
}

namespace {

/// Sums over places: how many, their sum, their squares' sum.
struct Moments {
  double count = 0, sum = 0, squares = 0;
  /// Sum of (place - x)^2.
  double error_at(double x) const { return std::max(squares - 2 * x * sum + x * x * count, 0.0); }
};

Moments operator-(const Moments& a, const Moments& b) {
  return {a.count - b.count, a.sum - b.sum, a.squares - b.squares};
}

/// Chooses entries one after another. What two neighbours cost, the places between them going to the nearer, obeys the
/// quadrangle inequality: the best left neighbour moves right with its right one, so that each layer of the program is
/// found by halving.
class TableSearch {
 public:
  TableSearch(std::span<const double> places, std::span<const double> weights, const LutValues& values, int size,
              bool with_zero)
      : low_(values.low()),
        candidates_(static_cast<size_t>(values.high() - values.low()) + 1),
        first_allowed_(with_zero ? static_cast<size_t>(-values.low()) : candidates_ - 1),
        size_(static_cast<size_t>(size)),
        with_zero_(with_zero),
        below_(2 * candidates_) {
    for (size_t k = 0; k < places.size(); ++k) {
      const double weight = weights.empty() ? 1 : weights[k], x = places[k];
      Moments& half = below_[static_cast<size_t>(std::floor(2 * (x - low_))) + 1];
      half.count += weight, half.sum += weight * x, half.squares += weight * x * x;
    }
    for (size_t h = 1; h < below_.size(); ++h) {
      below_[h].count += below_[h - 1].count;
      below_[h].sum += below_[h - 1].sum;
      below_[h].squares += below_[h - 1].squares;
    }
    if (candidates_ > kFewCandidates || size_ <= kFewEntries) return;
    costs_.resize(candidates_ * candidates_);
    for (size_t k = 1; k < candidates_; ++k)
      for (size_t i = 0; i < k; ++i) costs_[k * candidates_ + i] = cost_between(i, k);
  }

  LutTable run() {
    std::vector<double> error(candidates_, HUGE_VAL), above(candidates_);
    for (size_t i = 0; i < candidates_; ++i) above[i] = (below_.back() - below_[2 * i]).error_at(value(i));
    for (size_t i = 0; i <= first_allowed_; ++i) error[i] = below_[2 * i].error_at(value(i));
    size_t best_layer = 0, best_last = 0;
    double least = HUGE_VAL;
    for (size_t layer = 0; layer < size_; ++layer) {
      if (layer > 0) error = next_layer(error, layer);
      for (size_t i = with_zero_ ? first_allowed_ : 0; i < candidates_; ++i) {
        const double whole = error[i] + above[i];
        if (whole < least) least = whole, best_layer = layer, best_last = i;
      }
    }
    LutTable table{{}, least};
    for (size_t layer = best_layer + 1, i = best_last; layer-- > 0;) {
      table.entries.push_back(static_cast<int32_t>(value(i)));
      if (layer > 0) i = previous_[layer - 1][i];
    }
    std::reverse(table.entries.begin(), table.entries.end());
    return table;
  }

 private:
  double value(size_t i) const { return low_ + static_cast<double>(i); }

  /// With more candidates the costs of all pairs would take too much memory; with fewer entries each cost is asked for
  /// so seldom that computing all of them takes longer.
  static constexpr size_t kFewCandidates = 256, kFewEntries = 8;

  double between(size_t i, size_t k) const { return costs_.empty() ? cost_between(i, k) : costs_[k * candidates_ + i]; }

  /// What the places from entry i to entry k > i cost.
  double cost_between(size_t i, size_t k) const {
    return (below_[i + k] - below_[2 * i]).error_at(value(i)) + (below_[2 * k] - below_[i + k]).error_at(value(k));
  }

  /// `layer` entries lie before the one that is added, so that it is not among the first candidates.
  std::vector<double> next_layer(const std::vector<double>& error, size_t layer) {
    std::vector<double> next(candidates_, HUGE_VAL);
    previous_.emplace_back(candidates_, 0);
    if (with_zero_) {  // none steps over zero
      halve(error, next, layer, first_allowed_ + 1, layer - 1, first_allowed_);
      halve(error, next, std::max(layer, first_allowed_ + 1), candidates_, std::max(layer - 1, first_allowed_),
            candidates_);
    } else {
      halve(error, next, layer, candidates_, layer - 1, candidates_);
    }
    return next;
  }

  /// Entries [begin, end), whose left neighbours lie in [from, to).
  void halve(const std::vector<double>& error, std::vector<double>& next, size_t begin, size_t end, size_t from,
             size_t to) {
    if (begin >= end) return;
    const size_t middle = begin + (end - begin) / 2;
    size_t best = from;
    for (size_t i = from; i < std::min(to, middle); ++i) {
      const double found = error[i] + between(i, middle);
      if (found < next[middle]) next[middle] = found, best = i;
    }
    previous_.back()[middle] = static_cast<uint32_t>(best);
    halve(error, next, begin, middle, from, best + 1);
    halve(error, next, middle + 1, end, best, to);
  }

  double low_;
  size_t candidates_, first_allowed_, size_;
  bool with_zero_;
  std::vector<Moments> below_;  // below_[h]: places below low + h / 2
  std::vector<double> costs_;   // between(i, k) at k * candidates + i; empty: they are not kept
  std::vector<std::vector<uint32_t>> previous_;
};

}  // namespace

LutTable least_error_table(std::span<const double> places, std::span<const double> weights, const LutValues& values,
                           int size, bool with_zero) {
  TERSOR_CHECK(size > 0 && (weights.empty() || weights.size() == places.size()));
  return TableSearch(places, weights, values, size, with_zero).run();
}

}  // namespace tersor::quant
