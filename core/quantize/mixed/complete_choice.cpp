// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/complete_choice.h"

#include <algorithm>

#include "core/base/sort_stably.h"
#include "core/mixed/price_budgets.h"

namespace tersor::mixed {

namespace {

using Option = BudgetTable::Option;

struct Change {
  size_t node = 0, option = 0;
  const Option* from = nullptr;
  const Option* to = nullptr;

  double saves() const { return from->cost - to->cost; }
  void apply_to(std::vector<double>& taken) const {
    for (size_t b = 0; b < taken.size(); ++b) taken[b] += to->takes[b] - from->takes[b];
  }
};

/// One option for each node, and what they take.
class Draft {
 public:
  Draft(const BudgetTable& table, std::span<const size_t> begun, std::span<const double> prices)
      : table_(table), prices_(prices), first_(begun.size()), picks_(begun.begin(), begun.end()), taken_(table.base) {
    for (size_t n = first_; n < table.nodes.size(); ++n) {
      const auto& options = table.nodes[n];
      size_t least = 0;
      for (size_t k = 1; k < options.size(); ++k)
        if (priced(options[k], prices) < priced(options[least], prices)) least = k;
      picks_.push_back(least);
    }
    for (size_t n = 0; n < picks_.size(); ++n)
      for (size_t b = 0; b < taken_.size(); ++b) taken_[b] += table.nodes[n][picks_[n]].takes[b];
  }

  const std::vector<size_t>& picks() const { return picks_; }

  /// One change after another, each time that which takes off most of the excess for its price. False: none is left.
  bool fit() {
    for (double excess = excess_of(taken_); excess > 0;) {
      Change best;
      double best_rate = 0, best_excess = excess;
      for (const Change& change : changes()) {
        std::vector<double> taken = taken_;
        change.apply_to(taken);
        const double after = excess_of(taken);
        if (!(after < excess)) continue;
        const double rate =
            std::max(priced(*change.to, prices_) - priced(*change.from, prices_), 0.0) / (excess - after);
        if (best.to != nullptr && (rate > best_rate || (rate == best_rate && after >= best_excess))) continue;
        best = change, best_rate = rate, best_excess = after;
      }
      if (best.to == nullptr) return false;
      apply(best);
      excess = best_excess;
    }
    return true;
  }

  /// One change after another within the budgets, each time that which saves most.
  void improve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Change& change : by_saving()) {
        if (change.saves() <= 0) break;
        if (!within(taken_, change)) continue;
        apply(change);
        changed = true;
        break;
      }
    }
  }

  /// The same with two changes at a time.
  void improve_in_pairs() {
    for (;;) {
      const std::vector<Change> all = by_saving();
      const Change *first = nullptr, *second = nullptr;
      double most = 0;
      for (const Change& one : all) {
        if (one.saves() <= 0) break;
        std::vector<double> taken = taken_;
        one.apply_to(taken);
        for (const Change& other : all) {
          if (one.saves() + other.saves() <= most) break;
          if (other.node == one.node || !within(taken, other)) continue;
          first = &one, second = &other, most = one.saves() + other.saves();
          break;
        }
      }
      if (first == nullptr) return;
      apply(*first), apply(*second);
    }
  }

 private:
  std::vector<Change> changes() const {
    std::vector<Change> all;
    for (size_t n = first_; n < picks_.size(); ++n)
      for (size_t k = 0; k < table_.nodes[n].size(); ++k)
        if (k != picks_[n]) all.push_back({n, k, &table_.nodes[n][picks_[n]], &table_.nodes[n][k]});
    return all;
  }
  std::vector<Change> by_saving() const {
    std::vector<Change> all = changes();
    sort_stably(all, [](const Change& a, const Change& b) { return a.saves() > b.saves(); });
    return all;
  }

  void apply(const Change& change) {
    change.apply_to(taken_);
    picks_[change.node] = change.option;
  }

  bool within(const std::vector<double>& taken, const Change& change) const {
    for (size_t b = 0; b < taken.size(); ++b)
      if (taken[b] + (change.to->takes[b] - change.from->takes[b]) > table_.limit[b]) return false;
    return true;
  }

  /// Sum over the budgets of what is taken beyond the limit, in parts of the room there is.
  double excess_of(const std::vector<double>& taken) const {
    double excess = 0;
    for (size_t b = 0; b < taken.size(); ++b)
      if (taken[b] > table_.limit[b]) excess += (taken[b] - table_.limit[b]) / table_.room(b);
    return excess;
  }

  const BudgetTable& table_;
  std::span<const double> prices_;
  size_t first_;
  std::vector<size_t> picks_;
  std::vector<double> taken_;
};

}  // namespace

std::optional<std::vector<size_t>> complete_choice(const BudgetTable& table, std::span<const size_t> begun,
                                                   std::span<const double> prices, Improve improve) {
  Draft draft(table, begun, prices);
  if (!draft.fit()) return std::nullopt;
  draft.improve();
  if (improve == Improve::kInPairs) draft.improve_in_pairs();
  if (!table.sums(draft.picks())) return std::nullopt;
  return draft.picks();
}

}  // namespace tersor::mixed
