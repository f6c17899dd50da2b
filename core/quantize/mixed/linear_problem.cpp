// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/linear_problem.h"

#include <string>
#include <utility>

#include "core/base/error.h"

namespace tersor::mixed {

BitProblem linear_problem(const std::vector<std::vector<double>>& sensitivities, std::vector<Budget> budgets,
                          const std::vector<size_t>& minimal, const Taking& taking) {
  if (minimal.size() != sensitivities.size())
    throw Error(ErrorCode::kInvalidArgument, "The minimal choice is for " + std::to_string(minimal.size()) + " of " +
                                                 std::to_string(sensitivities.size()) + " nodes.");
  for (size_t n = 0; n < minimal.size(); ++n)
    if (minimal[n] >= sensitivities[n].size())
      throw Error(ErrorCode::kInvalidArgument, "The minimal choice is none of the node's candidates.",
                  "nodes[" + std::to_string(n) + "]");
  const auto taken = [&](const std::vector<size_t>& choice) {
    std::vector<double> figures = taking(choice);
    if (figures.size() != budgets.size())
      throw Error(ErrorCode::kInvalidArgument, "A choice has " + std::to_string(figures.size()) + " figures for " +
                                                   std::to_string(budgets.size()) + " budgets.");
    return figures;
  };
  const std::vector<double> base = taken(minimal);
  for (size_t b = 0; b < budgets.size(); ++b) budgets[b].base = base[b];
  BitProblem problem;
  std::vector<size_t> choice = minimal;
  for (size_t n = 0; n < minimal.size(); ++n) {
    std::vector<BitCandidate>& candidates = problem.nodes.emplace_back();
    for (choice[n] = 0; choice[n] < sensitivities[n].size(); ++choice[n]) {
      std::vector<double> takes = taken(choice);
      for (size_t b = 0; b < takes.size(); ++b) takes[b] -= base[b];
      candidates.push_back({sensitivities[n][choice[n]], std::move(takes)});
    }
    choice[n] = minimal[n];
  }
  problem.budgets = std::move(budgets);
  return problem;
}

}  // namespace tersor::mixed
