// SPDX-License-Identifier: Apache-2.0
#include "core/decide/minimum_cut.h"

#include <random>

#include "tests/catch.h"

using tersor::ptq::MinimumCut;

namespace {

struct Problem {
  std::vector<int64_t> yes, no;
  struct Pair {
    size_t first, second;
    int64_t cost;
  };
  std::vector<Pair> pairs;

  int64_t cost(const std::vector<bool>& answers) const {
    int64_t sum = 0;
    for (size_t k = 0; k < yes.size(); ++k) sum += answers[k] ? yes[k] : no[k];
    for (const Pair& pair : pairs)
      if (answers[pair.first] && !answers[pair.second]) sum += pair.cost;
    return sum;
  }
};

Problem random_problem(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  Problem problem;
  for (size_t k = 0; k < count; ++k) {
    problem.yes.push_back(random() % 20);
    problem.no.push_back(random() % 20);
  }
  for (size_t k = 0; k < 2 * count; ++k) {
    const size_t a = random() % count, b = random() % count;
    if (a != b) problem.pairs.push_back({a, b, static_cast<int64_t>(random() % 15)});
  }
  return problem;
}

}  // namespace

TEST_CASE("a minimum cut costs no more than any other answers") {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = random_problem(seed, 10);
    MinimumCut cut;
    for (size_t k = 0; k < problem.yes.size(); ++k) cut.add_cost(cut.add_choice(), problem.yes[k], problem.no[k]);
    for (const auto& pair : problem.pairs) cut.add_pair_cost(pair.first, pair.second, pair.cost);
    const int64_t found = problem.cost(cut.solve());
    int64_t least = found;
    for (size_t word = 0; word < 1024; ++word) {
      std::vector<bool> answers;
      for (size_t k = 0; k < 10; ++k) answers.push_back((word >> k & 1) != 0);
      least = std::min(least, problem.cost(answers));
      REQUIRE(cut.cost_of(answers) == problem.cost(answers));
    }
    INFO("seed " << seed);
    REQUIRE(found == least);
  }
}

TEST_CASE("what must never be is never chosen, and of equal costs yes is") {
  MinimumCut cut;
  const size_t a = cut.add_choice(), b = cut.add_choice(), c = cut.add_choice();
  cut.add_cost(a, 0, 100);
  cut.add_cost(b, MinimumCut::kNever, 0);
  cut.add_pair_cost(a, b, MinimumCut::kNever);
  cut.add_cost(c, 5, 5);
  REQUIRE(cut.solve() == std::vector<bool>{false, false, true});
}

TEST_CASE("a chain of thousands of choices is cut without recursion") {
  MinimumCut cut;
  constexpr size_t kLength = 20000;
  for (size_t k = 0; k < kLength; ++k) {
    cut.add_choice();
    if (k > 0) cut.add_pair_cost(k - 1, k, 3);
  }
  cut.add_cost(0, 0, 10);
  cut.add_cost(kLength - 1, 10, 0);
  const std::vector<bool> answers = cut.solve();
  REQUIRE(answers.front());
  REQUIRE_FALSE(answers.back());
}
