// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/mixed/choose_bits.h"

namespace tersor::mixed {

/// What is left of a problem without the budgets that no choice exceeds, the candidates that fit into no choice, and
/// those that are no better than another of their node and take no less. Nodes stand in the order in which they are
/// decided and summed: by falling spread of sensitivity.
struct BudgetTable {
  struct Option {
    size_t candidate = 0;
    double cost = 0;
    std::vector<double> takes;
  };
  std::vector<std::vector<Option>> nodes;  // each in the candidates' order
  std::vector<size_t> place;               // of each, in the problem
  std::vector<double> base, limit;         // one for each budget left

  size_t budgets() const { return limit.size(); }
  /// What the nodes may take, never 0.
  double room(size_t budget) const { return std::max(std::fabs(limit[budget] - base[budget]), 1e-300); }
  /// What sums in another order than that of the nodes may go beyond a budget by.
  double slack(size_t budget) const;
  /// Sensitivity and takings of one option for each node, summed in their order; none where a budget is exceeded.
  struct Sums {
    double cost = 0;
    std::vector<double> taken;
  };
  std::optional<Sums> sums(const std::vector<size_t>& picks) const;
};

/// What a node's options take at least.
double least_taken(const std::vector<BudgetTable::Option>& options, size_t budget);

/// Errors as choose_bits().
BudgetTable table_of(const BitProblem& problem);

/// The Error of budgets that can be met one by one and not together, or that no choice was found for.
[[noreturn]] void none_fits(const BitProblem& problem);

}  // namespace tersor::mixed
