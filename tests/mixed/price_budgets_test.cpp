// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/price_budgets.h"

#include <algorithm>
#include <limits>
#include <random>

#include "core/mixed/complete_choice.h"
#include "tests/catch.h"

using namespace tersor::mixed;

namespace {

/// Three nodes of four candidates and two budgets.
BudgetTable small_table(std::mt19937& random) {
  const auto number = [&] { return static_cast<double>(random() % 100); };
  BitProblem problem{{{"a", 150, 5}, {"b", 150}}, {}};
  for (int n = 0; n < 3; ++n) {
    auto& node = problem.nodes.emplace_back();
    node.push_back({number() + 100, {0, 0}});
    for (int c = 0; c < 3; ++c) node.push_back({number(), {number(), number()}});
  }
  return table_of(problem);
}

double bound_at(const BudgetTable& table, const std::vector<double>& prices) {
  double bound = 0;
  for (size_t b = 0; b < table.budgets(); ++b) bound -= prices[b] * (table.limit[b] - table.base[b]);
  for (const auto& options : table.nodes) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& option : options) least = std::min(least, priced(option, prices));
    bound += least;
  }
  return bound;
}

double least_cost(const BudgetTable& table) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < table.nodes[0].size(); ++i)
    for (size_t j = 0; j < table.nodes[1].size(); ++j)
      for (size_t k = 0; k < table.nodes[2].size(); ++k)
        if (const auto sums = table.sums({i, j, k})) least = std::min(least, sums->cost);
  return least;
}

}  // namespace

TEST_CASE("the bound at any prices is below every choice within the budgets, and above that without prices") {
  std::mt19937 random(4);
  for (int k = 0; k < 100; ++k) {
    const BudgetTable table = small_table(random);
    const double least = least_cost(table);
    const Pricing pricing = price_budgets(table);
    const double bound = bound_at(table, pricing.prices);
    REQUIRE(bound <= least + 1e-9);
    REQUIRE(bound >= bound_at(table, std::vector<double>(table.budgets(), 0.0)) - 1e-9);
    for (const double price : pricing.prices) REQUIRE(price >= 0);
    REQUIRE(bound_at(table, std::vector<double>(table.budgets(), 0.7)) <= least + 1e-9);
    REQUIRE(pricing.best);
    REQUIRE(table.sums(*pricing.best)->cost >= least);
  }
}

TEST_CASE("what is begun stays in a completed choice, which fits or is none") {
  std::mt19937 random(9);
  for (int k = 0; k < 50; ++k) {
    const BudgetTable table = small_table(random);
    const std::vector<double> prices(table.budgets(), 0.5);
    for (size_t first = 0; first < table.nodes[0].size(); ++first) {
      const std::vector<size_t> begun{first};
      const auto choice = complete_choice(table, begun, prices, Improve::kInPairs);
      REQUIRE(choice);  // the others may take nothing
      REQUIRE((*choice)[0] == first);
      REQUIRE(table.sums(*choice));
    }
  }
}
