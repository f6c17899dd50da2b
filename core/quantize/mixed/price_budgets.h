// SPDX-License-Identifier: Apache-2.0
// Prices that stand for budgets (Lagrange multipliers). With any prices, none below 0,
//   sum over nodes of the least (cost + sum over budgets of price * takes)  -  sum over budgets of price * (limit -
//   base)
// is no more than the cost of any choice within the budgets. Each node may be looked at by itself, and at the best
// prices this is as near as the program comes without its whole numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/mixed/budget_table.h"

namespace tersor::mixed {

/// cost + sum of price * takes.
double priced(const BudgetTable::Option& option, std::span<const double> prices);

/// The nodes from `first` on, when the base and those before take `taken`.
struct OpenNodes {
  size_t first = 0;
  std::span<const double> taken;
};

/// Prices of a greater bound for the nodes left than `prices` give, or `prices` again. `upper`: what some choice for
/// these nodes costs.
std::vector<double> raise_bound(const BudgetTable& table, const OpenNodes& open, std::vector<double> prices,
                                double upper);

struct Pricing {
  std::vector<double> prices;
  std::optional<std::vector<size_t>> best;  // of the choices within the budgets that were met on the way
};

/// Prices near the best for all nodes.
Pricing price_budgets(const BudgetTable& table);

}  // namespace tersor::mixed
