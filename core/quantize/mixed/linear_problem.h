// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/mixed/choose_bits.h"

namespace tersor::mixed {

/// What a choice of one candidate for each node takes of each budget.
using Taking = std::function<std::vector<double>(const std::vector<size_t>& choice)>;

/// The problem whose figures are relative to a minimal choice, every node at its smallest candidate: the base of a
/// budget is what that takes, and a candidate takes what it changes there as the only one. Exact where nodes add up:
/// for weights, for each cut, for bit operations where only one factor of each product is chosen. `sensitivities`: by
/// node and candidate. Error kInvalidArgument when the minimal choice is none, or `taking` gives another number of
/// figures than there are budgets.
BitProblem linear_problem(const std::vector<std::vector<double>>& sensitivities, std::vector<Budget> budgets,
                          const std::vector<size_t>& minimal, const Taking& taking);

}  // namespace tersor::mixed
