// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/choose_bits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;
using Catch::Matchers::Contains;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

BitProblem random_problem(std::mt19937& random, size_t nodes, size_t candidates, size_t budgets, bool whole) {
  const auto number = [&](int most) {
    const int x = static_cast<int>(random() % static_cast<unsigned>(most));
    return whole ? x / 4 : x * 0.01;  // few of the whole ones differ
  };
  BitProblem problem;
  problem.nodes.resize(nodes);
  std::vector<double> least(budgets, 0.0), most(budgets, 0.0);
  for (auto& node : problem.nodes) {
    for (size_t c = 0; c < candidates; ++c) {
      BitCandidate& candidate = node.emplace_back(BitCandidate{number(20), {}});
      for (size_t b = 0; b < budgets; ++b) candidate.takes.push_back(number(100) - (b == 1 ? number(30) : 0));
    }
    for (size_t b = 0; b < budgets; ++b) {
      const auto [low, high] = std::minmax_element(
          node.begin(), node.end(), [&](const auto& x, const auto& y) { return x.takes[b] < y.takes[b]; });
      least[b] += low->takes[b], most[b] += high->takes[b];
    }
  }
  for (size_t b = 0; b < budgets; ++b) {
    const double part = 0.1 + 0.05 * static_cast<double>(random() % 12);
    problem.budgets.push_back({"budget" + std::to_string(b), 2 + least[b] + part * (most[b] - least[b]), 2});
  }
  return problem;
}

double sensitivity_of(const BitProblem& problem, const std::vector<size_t>& choice) {
  double sum = 0;
  for (size_t n = 0; n < choice.size(); ++n) sum += problem.nodes[n][choice[n]].sensitivity;
  return sum;
}

std::vector<double> taken_by(const BitProblem& problem, const std::vector<size_t>& choice) {
  std::vector<double> taken;
  for (size_t b = 0; b < problem.budgets.size(); ++b) {
    taken.push_back(problem.budgets[b].base);
    for (size_t n = 0; n < choice.size(); ++n) taken[b] += problem.nodes[n][choice[n]].takes[b];
  }
  return taken;
}

bool fits(const BitProblem& problem, const std::vector<size_t>& choice, double tolerance) {
  const std::vector<double> taken = taken_by(problem, choice);
  for (size_t b = 0; b < taken.size(); ++b)
    if (taken[b] > problem.budgets[b].limit + tolerance) return false;
  return true;
}

/// Calls visit(choice) for every choice.
template <class Visit>
void for_each_choice(const BitProblem& problem, Visit&& visit) {
  std::vector<size_t> choice(problem.nodes.size(), 0);
  for (size_t n = 0; n < choice.size();) {
    if (n == 0) visit(choice);
    if (++choice[n] < problem.nodes[n].size())
      n = 0;
    else
      choice[n++] = 0;
  }
}

/// The least sensitivity of all choices that fit, tried one by one.
std::optional<double> least_of_all(const BitProblem& problem, double tolerance) {
  std::optional<double> least;
  for_each_choice(problem, [&](const std::vector<size_t>& choice) {
    const double sensitivity = sensitivity_of(problem, choice);
    if ((!least || sensitivity < *least) && fits(problem, choice, tolerance)) least = sensitivity;
  });
  return least;
}

/// The choice by the rule of equals, where sums do not round.
std::vector<size_t> first_of_all(const BitProblem& problem) {
  std::vector<size_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto spread = [&](size_t n) {
    const auto [low, high] =
        std::minmax_element(problem.nodes[n].begin(), problem.nodes[n].end(),
                            [](const auto& x, const auto& y) { return x.sensitivity < y.sensitivity; });
    return high->sensitivity - low->sensitivity;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return spread(a) > spread(b); });
  std::vector<bool> exceeded(problem.budgets.size(), false);
  for_each_choice(problem, [&](const std::vector<size_t>& choice) {
    const std::vector<double> taken = taken_by(problem, choice);
    for (size_t b = 0; b < taken.size(); ++b)
      if (taken[b] > problem.budgets[b].limit) exceeded[b] = true;
  });
  std::optional<std::tuple<double, std::vector<double>, std::vector<size_t>>> first;
  std::vector<size_t> found;
  for_each_choice(problem, [&](const std::vector<size_t>& choice) {
    if (!fits(problem, choice, 0)) return;
    std::vector<double> taken = taken_by(problem, choice), counted;
    for (size_t b = 0; b < taken.size(); ++b)
      if (exceeded[b]) counted.push_back(taken[b]);
    std::vector<size_t> ordered;
    for (const size_t n : order) ordered.push_back(choice[n]);
    const auto key = std::make_tuple(sensitivity_of(problem, choice), counted, ordered);
    if (!first || key < *first) first = key, found = choice;
  });
  return found;
}

std::optional<BitChoice> chosen(const BitProblem& problem, size_t most_open = kMostOpen) {
  try {
    return choose_bits(problem, most_open);
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidConfig);
    return std::nullopt;
  }
}

Error error_of(const BitProblem& problem, size_t most_open = kMostOpen) {
  try {
    choose_bits(problem, most_open);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace

TEST_CASE("the choice is the best of all that fit, or none fits") {
  std::mt19937 random(1);
  int infeasible = 0;
  for (int k = 0; k < 400; ++k) {
    const bool whole = k % 2 == 0;
    const BitProblem problem = random_problem(random, 1 + random() % 6, 1 + random() % 4, random() % 4, whole);
    INFO("problem " << k);
    const auto found = chosen(problem);
    // Whole numbers are summed without rounding.
    const auto least = least_of_all(problem, whole ? 0 : 1e-9);
    if (!found) {
      REQUIRE_FALSE(least_of_all(problem, whole ? 0 : -1e-9));
      ++infeasible;
      continue;
    }
    REQUIRE(least);
    REQUIRE(fits(problem, found->candidates, whole ? 0 : 1e-9));
    REQUIRE(found->sensitivity == Approx(sensitivity_of(problem, found->candidates)).margin(1e-12));
    REQUIRE(found->sensitivity == Approx(*least).margin(1e-9));
    REQUIRE(found->gap == Approx(0).margin(1e-9));
    if (whole) REQUIRE(found->candidates == first_of_all(problem));
  }
  REQUIRE(infeasible > 5);
  REQUIRE(infeasible < 200);
}

TEST_CASE("of equal sensitivities the choice takes least, then has the lower index") {
  // Two of the three nodes must give way. They are alike but for what they take.
  const auto node = [](double takes) { return std::vector<BitCandidate>{{0, {takes}}, {1, {0}}, {1, {0}}}; };
  const BitProblem alike{{{"b", 8}}, {node(8), node(8), node(8)}};
  REQUIRE(choose_bits(alike).candidates == std::vector<size_t>{0, 1, 1});
  const BitProblem unlike{{{"b", 8}}, {node(8), node(7), node(8)}};
  REQUIRE(choose_bits(unlike).candidates == std::vector<size_t>{1, 0, 1});
  // The node of the widest spread is decided first.
  BitProblem spread{{{"b", 8}}, {node(8), node(8), node(8)}};
  spread.nodes[2].push_back({9, {0}});
  REQUIRE(choose_bits(spread).candidates == std::vector<size_t>{1, 1, 0});
}

TEST_CASE("without budgets, or within infinite ones, each node has its least sensitive candidate") {
  const BitProblem free{{}, {{{2, {}}, {1, {}}, {1, {}}}, {{0, {}}}}};
  REQUIRE(choose_bits(free).candidates == std::vector<size_t>{1, 0});
  const BitProblem wide{{{"b", kInfinity}}, {{{2, {0}}, {1, {9}}}}};
  REQUIRE(choose_bits(wide).candidates == std::vector<size_t>{1});
  REQUIRE(choose_bits({}).candidates.empty());
}

TEST_CASE("100 nodes of 9 candidates: the best choice with one budget, and with more the best found and how far") {
  std::mt19937 random(7);
  for (const size_t budgets : {1, 2, 4, 12}) {
    BitProblem problem = random_problem(random, 100, 9, budgets, false);
    std::vector<size_t> any;
    for (size_t n = 0; n < 100; ++n) any.push_back(random() % 9);
    const std::vector<double> taken = taken_by(problem, any);
    for (size_t b = 0; b < budgets; ++b) problem.budgets[b].limit = budgets < 3 ? problem.budgets[b].limit : taken[b];
    const BitChoice choice = choose_bits(problem);
    INFO(budgets << " budgets, sensitivity " << choice.sensitivity << ", gap " << choice.gap);
    REQUIRE(fits(problem, choice.candidates, 1e-9));
    REQUIRE(choice.gap < 0.1 * choice.sensitivity + 1e-9);
    if (budgets == 1) REQUIRE(choice.gap == 0);
    const BitChoice again = choose_bits(problem);
    REQUIRE(again.candidates == choice.candidates);
  }
}

TEST_CASE("the gap holds the best choice when few partial ones are followed") {
  std::mt19937 random(11);
  for (int k = 0; k < 60; ++k) {
    const BitProblem problem = random_problem(random, 7, 4, 3, false);
    const auto narrow = chosen(problem, 1), wide = chosen(problem);
    if (!narrow || !wide) continue;
    INFO("problem " << k);
    REQUIRE(narrow->sensitivity >= wide->sensitivity - 1e-9);
    REQUIRE(narrow->sensitivity - narrow->gap <= wide->sensitivity + 1e-9);
  }
}

TEST_CASE("budgets that cannot be met are named with what is taken at least") {
  BitProblem problem{{{"weights_memory", 80.5, 81.5}, {"activation_memory", 10, 4}, {"activation_memory", 10, 12}},
                     {{{1, {0, 0, 0}}, {0, {10, 9, 0}}}}};
  const Error error = error_of(problem);
  REQUIRE(error.code == ErrorCode::kInvalidConfig);
  REQUIRE(error.message ==
          "These budgets cannot be met: weights_memory 80.5 (at least 81.5), activation_memory 10 (at least 12).");
  REQUIRE(error.place == "target_resource_utilization");
  REQUIRE_FALSE(error.hint.empty());
}

TEST_CASE("budgets that can only be met one by one are named together") {
  const BitProblem problem{{{"weights_memory", 5}, {"bops", 5}}, {{{0, {1, 9}}, {0, {9, 1}}}}};
  const Error error = error_of(problem);
  REQUIRE(error.code == ErrorCode::kInvalidConfig);
  REQUIRE_THAT(error.message, Contains("no choice that meets all was found: weights_memory, bops."));
}

TEST_CASE("what is no problem is refused") {
  const auto code = [](const BitProblem& problem) { return error_of(problem).code; };
  REQUIRE(code({{{"b", 1}}, {{}}}) == ErrorCode::kInvalidArgument);
  REQUIRE(code({{{"b", 1}}, {{{0, {}}}}}) == ErrorCode::kInvalidArgument);
  REQUIRE(code({{{"b", kNan}}, {{{0, {0}}}}}) == ErrorCode::kInvalidArgument);
  REQUIRE(code({{{"b", 1, kInfinity}}, {{{0, {0}}}}}) == ErrorCode::kInvalidArgument);
  REQUIRE(code({{{"b", 1}}, {{{kNan, {0}}}}}) == ErrorCode::kInvalidArgument);
  REQUIRE(code({{{"b", 1}}, {{{0, {kNan}}}}}) == ErrorCode::kInvalidArgument);
  REQUIRE(error_of({{{"b", 1}}, {{{0, {kNan}}}}}).place == "nodes[0]");
  REQUIRE(error_of({}, 0).code == ErrorCode::kInvalidArgument);
}
