// SPDX-License-Identifier: Apache-2.0
// Branch and bound, node after node: partial choices of as many nodes are kept side by side. One goes when what it
// costs with the rest at some prices (price_budgets.h) is more than a choice already found, when the rest cannot fit,
// or when another costs no more and takes no more of any budget.
#include "core/mixed/choose_bits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/sort_stably.h"
#include "core/mixed/budget_table.h"
#include "core/mixed/complete_choice.h"
#include "core/mixed/price_budgets.h"

namespace tersor::mixed {

namespace {

using Option = BudgetTable::Option;
using Picks = std::vector<size_t>;

constexpr double kBoundRounding = 1e-12;  // of a bound
constexpr size_t kComparedWith = 200;     // partial choices, for being outdone
constexpr size_t kFew = 64;               // partial choices that need no better prices
constexpr int kPricings = 3;              // for one node
constexpr size_t kMostPrices = 16;        // kept, the newest

/// Partial choices of the first nodes, ordered by the indices of their options.
struct Front {
  std::vector<double> cost, bound, taken;  // taken: by choice and budget
  std::vector<uint32_t> before, option;    // index into the front before, and the last node's option

  size_t size() const { return cost.size(); }
  std::span<const double> taken_by(size_t k) const {
    const size_t budgets = taken.size() / cost.size();
    return {taken.data() + k * budgets, budgets};
  }
  /// Adds choice k of another front.
  void add(const Front& other, size_t k) {
    const auto its = other.taken_by(k);
    add(other.cost[k], other.bound[k], its, other.before[k], other.option[k]);
  }
  void add(double its_cost, double its_bound, std::span<const double> its, uint32_t its_before, uint32_t its_option) {
    cost.push_back(its_cost), bound.push_back(its_bound);
    taken.insert(taken.end(), its.begin(), its.end());
    before.push_back(its_before), option.push_back(its_option);
  }
};

/// What the nodes from each on cost at some prices.
struct PricedRest {
  std::vector<double> prices, cost;
};

class Search {
 public:
  Search(const BudgetTable& table, size_t most_open)
      : table_(table), nodes_(table.nodes.size()), budgets_(table.budgets()), most_open_(most_open) {
    Pricing pricing = price_budgets(table);
    if (pricing.best) offer(*pricing.best);
    rests_.push_back(rest_at(std::move(pricing.prices)));
    rest_least_.assign((nodes_ + 1) * budgets_, 0.0);
    for (size_t n = nodes_; n-- > 0;)
      for (size_t b = 0; b < budgets_; ++b)
        rest_least_[n * budgets_ + b] = least_taken(table.nodes[n], b) + rest_least_[(n + 1) * budgets_ + b];
    rounding_ = kBoundRounding * magnitude();
  }

  /// None where no choice was found.
  std::optional<BitChoice> run() {
    fronts_.emplace_back().add(0, -HUGE_VAL, table_.base, 0, 0);
    for (size_t n = 0; n < nodes_ && fronts_.back().size() > 0; ++n) {
      Front next = extended(fronts_.back(), n);
      drop_outdone(next);
      sharpen(next, n + 1);
      limit(next);
      fronts_.push_back(std::move(next));
      if (n + 1 < nodes_) dive();
    }
    for (size_t k = 0; fronts_.size() == nodes_ + 1 && k < fronts_.back().size(); ++k) offer(picks_of(k));
    if (!best_) return std::nullopt;
    BitChoice choice{Picks(nodes_), best_sums_.cost, std::max(best_sums_.cost - least_let_go_, 0.0)};
    for (size_t n = 0; n < nodes_; ++n) choice.candidates[table_.place[n]] = table_.nodes[n][(*best_)[n]].candidate;
    return choice;
  }

 private:
  PricedRest rest_at(std::vector<double> prices) const {
    PricedRest rest{std::move(prices), std::vector<double>(nodes_ + 1, 0.0)};
    for (size_t n = nodes_; n-- > 0;) {
      double least = HUGE_VAL;
      for (const Option& option : table_.nodes[n]) least = std::min(least, priced(option, rest.prices));
      rest.cost[n] = least + rest.cost[n + 1];
    }
    return rest;
  }

  /// The size of the numbers that a bound is summed from.
  double magnitude() const {
    double sum = 0;
    for (size_t n = 0; n < nodes_; ++n) sum += std::fabs(rests_[0].cost[n] - rests_[0].cost[n + 1]);
    for (size_t b = 0; b < budgets_; ++b)
      sum += rests_[0].prices[b] * (std::fabs(table_.limit[b]) + std::fabs(table_.base[b]));
    return sum;
  }

  bool hopeless(double bound) const { return best_ && bound > best_sums_.cost + rounding_; }

  double bound_by(const PricedRest& rest, double cost, std::span<const double> taken, size_t next_node) const {
    double bound = cost + rest.cost[next_node];
    for (size_t b = 0; b < budgets_; ++b) bound += rest.prices[b] * (taken[b] - table_.limit[b]);
    return bound;
  }

  bool fits(std::span<const double> taken, size_t next_node) const {
    for (size_t b = 0; b < budgets_; ++b)
      if (taken[b] + rest_least_[next_node * budgets_ + b] >
          table_.limit[b] + (next_node < nodes_ ? table_.slack(b) : 0))
        return false;
    return true;
  }

  Front extended(const Front& front, size_t n) const {
    Front next;
    std::vector<double> taken(budgets_);
    for (size_t k = 0; k < front.size(); ++k)
      for (size_t o = 0; o < table_.nodes[n].size(); ++o) {
        const Option& option = table_.nodes[n][o];
        const double cost = front.cost[k] + option.cost;
        for (size_t b = 0; b < budgets_; ++b) taken[b] = front.taken_by(k)[b] + option.takes[b];
        if (!fits(taken, n + 1)) continue;
        double bound = front.bound[k];
        for (const PricedRest& rest : rests_) bound = std::max(bound, bound_by(rest, cost, taken, n + 1));
        if (!hopeless(bound)) next.add(cost, bound, taken, static_cast<uint32_t>(k), static_cast<uint32_t>(o));
      }
    return next;
  }

  /// By cost, then by what is taken of each budget in turn.
  static bool before(const Front& front, size_t a, size_t b) {
    if (front.cost[a] != front.cost[b]) return front.cost[a] < front.cost[b];
    const auto x = front.taken_by(a), y = front.taken_by(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  }

  void drop_outdone(Front& front) const {
    std::vector<bool> stays(front.size(), false);
    std::vector<size_t> kept;
    for (const size_t k : stable_order(front.size(), [&](size_t a, size_t b) { return before(front, a, b); })) {
      const auto taken = front.taken_by(k);
      const auto outdoes = [&](size_t other) {
        const auto theirs = front.taken_by(other);
        return std::equal(theirs.begin(), theirs.end(), taken.begin(), [](double a, double b) { return a <= b; });
      };
      // With one budget the last kept takes least.
      const size_t count = std::min(kept.size(), budgets_ < 2 ? size_t{1} : kComparedWith);
      if (std::any_of(kept.end() - static_cast<std::ptrdiff_t>(count), kept.end(), outdoes)) continue;
      kept.push_back(k);
      stays[k] = true;
    }
    keep(front, stays);
  }

  /// Better prices for the partial choice that might become cheapest; they raise the bounds of others too.
  void sharpen(Front& front, size_t next_node) {
    for (int round = 0; round < kPricings && best_ && next_node < nodes_ && front.size() > kFew; ++round) {
      const size_t k = most_promising(front);
      const double before = front.bound[k];
      PricedRest rest = rest_at(
          raise_bound(table_, {next_node, front.taken_by(k)}, rests_[0].prices, best_sums_.cost - front.cost[k]));
      std::vector<bool> stays(front.size());
      for (size_t i = 0; i < front.size(); ++i) {
        front.bound[i] = std::max(front.bound[i], bound_by(rest, front.cost[i], front.taken_by(i), next_node));
        stays[i] = !hopeless(front.bound[i]);
      }
      const bool raised = front.bound[k] > before;
      keep(front, stays);
      if (!raised) return;
      rests_.push_back(std::move(rest));
      if (rests_.size() > kMostPrices) rests_.erase(rests_.begin() + 1);
    }
  }

  void limit(Front& front) {
    if (front.size() <= most_open_) return;
    std::vector<bool> stays(front.size(), false);
    const auto order = stable_order(front.size(), [&](size_t a, size_t b) { return front.bound[a] < front.bound[b]; });
    for (size_t k = 0; k < most_open_; ++k) stays[order[k]] = true;
    least_let_go_ = std::min(least_let_go_, front.bound[order[most_open_]]);
    keep(front, stays);
  }

  static void keep(Front& front, const std::vector<bool>& stays) {
    Front kept;
    for (size_t k = 0; k < front.size(); ++k)
      if (stays[k]) kept.add(front, k);
    front = std::move(kept);
  }

  static size_t most_promising(const Front& front) {
    return static_cast<size_t>(std::min_element(front.bound.begin(), front.bound.end()) - front.bound.begin());
  }

  Picks picks_of(size_t k) const {
    Picks picks(fronts_.size() - 1);
    for (size_t n = picks.size(); n-- > 0; k = fronts_[n + 1].before[k]) picks[n] = fronts_[n + 1].option[k];
    return picks;
  }

  /// Completes the most promising partial choice.
  void dive() {
    if (fronts_.back().size() == 0) return;
    const Picks begun = picks_of(most_promising(fronts_.back()));
    if (const auto whole = complete_choice(table_, begun, rests_[0].prices, Improve::kSingly)) offer(*whole);
  }

  /// A choice, if it comes before the best so far.
  void offer(const Picks& picks) {
    auto sums = table_.sums(picks);
    if (!sums) return;
    const auto key = [](const BudgetTable::Sums& s, const Picks& p) { return std::tie(s.cost, s.taken, p); };
    if (best_ && !(key(*sums, picks) < key(best_sums_, *best_))) return;
    best_ = picks;
    best_sums_ = std::move(*sums);
  }

  const BudgetTable& table_;
  size_t nodes_, budgets_, most_open_;
  std::vector<PricedRest> rests_;   // at prices for the whole, then at those for partial choices
  std::vector<double> rest_least_;  // what the nodes from each on take at least, by node and budget
  double rounding_ = 0;
  std::vector<Front> fronts_;  // of no node, of the first, of the first two, ...
  std::optional<Picks> best_;
  BudgetTable::Sums best_sums_;
  double least_let_go_ = HUGE_VAL;
};

}  // namespace

BitChoice choose_bits(const BitProblem& problem, size_t most_open) {
  if (most_open == 0) throw Error(ErrorCode::kInvalidArgument, "No partial choice may be followed.", "most_open");
  const BudgetTable table = table_of(problem);
  const auto choice = Search(table, most_open).run();
  if (!choice) none_fits(problem);
  return *choice;
}

}  // namespace tersor::mixed
