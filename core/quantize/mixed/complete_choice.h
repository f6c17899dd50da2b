// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/mixed/budget_table.h"

namespace tersor::mixed {

/// What a choice is improved by: changes of one node, or of two nodes at once as well.
enum class Improve { kSingly, kInPairs };

/// A choice within the budgets, as an index into the options of each node: the first nodes have those `begun`, the
/// others what is priced least, changed until it fits and as long as a change makes it cheaper. None where that does
/// not lead to one.
std::optional<std::vector<size_t>> complete_choice(const BudgetTable& table, std::span<const size_t> begun,
                                                   std::span<const double> prices, Improve improve);

}  // namespace tersor::mixed
