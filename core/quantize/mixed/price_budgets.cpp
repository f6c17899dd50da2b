// SPDX-License-Identifier: Apache-2.0
// Steps go along subgradients, what is taken beyond each limit, and are as long as Polyak's: a part of (what a choice
// costs - the bound) / square of the subgradient. They are in parts of each budget's room, so that bytes and operations
// move alike.
#include "core/mixed/price_budgets.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/mixed/complete_choice.h"

namespace tersor::mixed {

namespace {

using Option = BudgetTable::Option;

struct Climb {
  int steps = 0;
  int unimproved = 0;  // so many make the steps shorter by half
  double part = 1;     // at the start
};
constexpr Climb kFromNothing{300, 8, 2}, kFromBefore{60, 4, 1};
constexpr int kHalvings = 50, kDoublings = 200;

/// The bound at some prices, and how it changes with each: what is taken beyond the limit.
struct Priced {
  double bound = 0;
  std::vector<double> beyond;
};

Priced at_prices(const BudgetTable& table, const OpenNodes& open, std::span<const double> prices) {
  const size_t budgets = table.budgets();
  Priced found;
  for (size_t b = 0; b < budgets; ++b) found.beyond.push_back(open.taken[b] - table.limit[b]);
  for (size_t b = 0; b < budgets; ++b) found.bound += prices[b] * found.beyond[b];
  for (size_t n = open.first; n < table.nodes.size(); ++n) {
    const Option* least = nullptr;
    double least_price = 0;
    for (const Option& option : table.nodes[n]) {
      const double price = priced(option, prices);
      if (least == nullptr || price < least_price) least = &option, least_price = price;
    }
    found.bound += least_price;
    for (size_t b = 0; b < budgets; ++b) found.beyond[b] += least->takes[b];
  }
  return found;
}

/// `upper` is called with prices that gave a greater bound than all before, and gives what some choice costs.
std::vector<double> climb(const BudgetTable& table, const OpenNodes& open, std::vector<double> prices, const Climb& how,
                          const std::function<double(const std::vector<double>&)>& upper) {
  const size_t budgets = table.budgets();
  std::vector<double> best = prices;
  double best_bound = -HUGE_VAL, cost = HUGE_VAL, part = how.part;
  int unimproved = 0;
  for (int step = 0; step < how.steps; ++step) {
    const Priced found = at_prices(table, open, prices);
    if (found.bound > best_bound) {
      best_bound = found.bound, best = prices, unimproved = 0;
      cost = upper(prices);
    } else if (++unimproved == how.unimproved) {
      part /= 2, unimproved = 0, prices = best;
    }
    double square = 0;
    for (size_t b = 0; b < budgets; ++b) square += found.beyond[b] / table.room(b) * (found.beyond[b] / table.room(b));
    if (square == 0 || !(cost > found.bound)) break;
    const double length = part * (cost - found.bound) / square;
    for (size_t b = 0; b < budgets; ++b)
      prices[b] = std::max(prices[b] + length * (found.beyond[b] / table.room(b)) / table.room(b), 0.0);
  }
  return best;
}

/// The price of one budget, the others staying, at which the bound is greatest.
double best_price(const BudgetTable& table, std::vector<double> prices, size_t budget) {
  double low = 0, high = prices[budget] > 0 ? prices[budget] : 1 / table.room(budget);
  const auto rises_at = [&](double price) {
    prices[budget] = price;
    return at_prices(table, {0, table.base}, prices).beyond[budget] > 0;
  };
  if (!rises_at(0)) return 0;
  for (int k = 0; k < kDoublings && rises_at(high); ++k) low = high, high *= 2;
  for (int k = 0; k < kHalvings; ++k) (rises_at((low + high) / 2) ? low : high) = (low + high) / 2;
  return high;
}

/// Node by node what costs most.
double dearest(const BudgetTable& table) {
  double sum = 0;
  for (const auto& options : table.nodes) {
    double most = options[0].cost;
    for (const Option& option : options) most = std::max(most, option.cost);
    sum += most;
  }
  return sum;
}

}  // namespace

double priced(const Option& option, std::span<const double> prices) {
  double price = option.cost;
  for (size_t b = 0; b < prices.size(); ++b) price += prices[b] * option.takes[b];
  return price;
}

std::vector<double> raise_bound(const BudgetTable& table, const OpenNodes& open, std::vector<double> prices,
                                double upper) {
  return climb(table, open, std::move(prices), kFromBefore, [&](const auto&) { return upper; });
}

Pricing price_budgets(const BudgetTable& table) {
  Pricing pricing;
  double upper = dearest(table);
  const auto offer = [&](const std::vector<double>& prices, Improve improve) {
    auto choice = complete_choice(table, {}, prices, improve);
    if (!choice) return upper;
    const double cost = table.sums(*choice)->cost;
    if (!pricing.best || cost < upper) pricing.best = std::move(choice), upper = cost;
    return upper;
  };
  const OpenNodes all{0, table.base};
  pricing.prices = climb(table, all, std::vector<double>(table.budgets(), 0.0), kFromNothing,
                         [&](const auto& prices) { return offer(prices, Improve::kSingly); });
  double bound = at_prices(table, all, pricing.prices).bound;
  for (size_t b = 0; b < table.budgets(); ++b) {
    std::vector<double> prices = pricing.prices;
    prices[b] = best_price(table, prices, b);
    const double found = at_prices(table, all, prices).bound;
    if (found > bound) bound = found, pricing.prices = std::move(prices);
  }
  offer(pricing.prices, Improve::kInPairs);
  return pricing;
}

}  // namespace tersor::mixed
