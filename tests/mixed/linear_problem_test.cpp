// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/linear_problem.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;

namespace {

/// Two figures that add up over the nodes.
std::vector<double> taken(const std::vector<size_t>& choice) {
  std::vector<double> sums{1, 2};
  for (size_t n = 0; n < choice.size(); ++n) {
    sums[0] += 10.0 * static_cast<double>(n + 1) * static_cast<double>(choice[n]);
    sums[1] -= static_cast<double>(choice[n]);
  }
  return sums;
}

}  // namespace

TEST_CASE("figures are relative to the minimal choice, whose own are the base") {
  const BitProblem problem = linear_problem({{1, 2, 3}, {4, 5}}, {{"weights_memory", 100}, {"bops", 7}}, {1, 0}, taken);
  REQUIRE(problem.budgets[0].base == 11);
  REQUIRE(problem.budgets[1].base == 1);
  REQUIRE(problem.budgets[1].limit == 7);
  REQUIRE(problem.nodes[0][0].takes == std::vector<double>{-10, 1});
  REQUIRE(problem.nodes[0][1].takes == std::vector<double>{0, 0});
  REQUIRE(problem.nodes[0][2].takes == std::vector<double>{10, -1});
  REQUIRE(problem.nodes[1][1].takes == std::vector<double>{20, -1});
  REQUIRE(problem.nodes[1][1].sensitivity == 5);
}

TEST_CASE("a minimal choice or figures of another number are refused") {
  REQUIRE_THROWS_AS(linear_problem({{1}}, {{"a", 1}, {"b", 1}}, {}, taken), Error);
  REQUIRE_THROWS_AS(linear_problem({{1}}, {{"a", 1}, {"b", 1}}, {1}, taken), Error);
  REQUIRE_THROWS_AS(linear_problem({{1}}, {{"a", 1}}, {0}, taken), Error);
}
