// SPDX-License-Identifier: Apache-2.0
// The choice of one candidate for each node, least in sensitivity, within budgets:
//   least    sum over nodes of sensitivity[node][candidate]
//   where    base[b] + sum over nodes of takes[node][candidate][b] <= limit[b]    for each budget b
// A budget is one number of a resource: a scalar such as the weights' bytes, or the bytes of one cut through the
// activations. Source: the integer program of MCT's mixed precision, whose figures of a candidate are relative to a
// minimal configuration (mixed/linear_problem.h).
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace tersor::mixed {

struct BitCandidate {
  double sensitivity = 0;
  std::vector<double> takes;  // of each budget, which may be less than nothing
};

struct Budget {
  std::string target;  // the resource as errors call it; several budgets may be of one
  double limit = std::numeric_limits<double>::infinity();
  double base = 0;  // what is taken whatever is chosen
};

struct BitProblem {
  std::vector<Budget> budgets;
  std::vector<std::vector<BitCandidate>> nodes;
};

struct BitChoice {
  std::vector<size_t> candidates;  // one for each node
  double sensitivity = 0;
  /// No choice within the budgets has a sensitivity less than this one's by more; 0: none is better.
  double gap = 0;
};

/// Partial choices that are followed at once. Above that the less promising are let go, and gap says what that may have
/// cost. Of 100 nodes of 9 candidates none go, as a rule, with one budget or two, and few with three.
inline constexpr size_t kMostOpen = 2000;

/// Of choices of equal sensitivity that which takes least of the first budget, then of the second and so on, budgets
/// that no choice exceeds left aside; then that with the lower index at the first node where they differ. Here, and
/// where sensitivities are summed, nodes stand by falling spread of their candidates' sensitivities. Error
/// kInvalidConfig when the budgets cannot be met, with each that no choice meets and what it takes at least;
/// kInvalidArgument for a node without candidates, another number of `takes` than of budgets, or a number that is not
/// finite (limits may be infinite).
BitChoice choose_bits(const BitProblem& problem, size_t most_open = kMostOpen);

}  // namespace tersor::mixed
