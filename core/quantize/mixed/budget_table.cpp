// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/budget_table.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/sort_stably.h"

namespace tersor::mixed {

namespace {

using Option = BudgetTable::Option;

constexpr double kRounding = 1e-12;  // of sums of some thousand terms
constexpr const char* kPlace = "target_resource_utilization";
constexpr const char* kHint = "Raise the budget, or allow candidates of fewer bits.";

void check(const BitProblem& problem) {
  for (const Budget& budget : problem.budgets)
    if (std::isnan(budget.limit) || !std::isfinite(budget.base))
      throw Error(ErrorCode::kInvalidArgument, "The budget \"" + budget.target + "\" is no number.", kPlace);
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    const std::string place = "nodes[" + std::to_string(n) + "]";
    if (problem.nodes[n].empty()) throw Error(ErrorCode::kInvalidArgument, "A node has no candidates.", place);
    for (const BitCandidate& candidate : problem.nodes[n]) {
      if (candidate.takes.size() != problem.budgets.size())
        throw Error(ErrorCode::kInvalidArgument,
                    "A candidate has " + std::to_string(candidate.takes.size()) + " figures for " +
                        std::to_string(problem.budgets.size()) + " budgets.",
                    place);
      const bool finite =
          std::all_of(candidate.takes.begin(), candidate.takes.end(), [](double x) { return std::isfinite(x); });
      if (!finite || !std::isfinite(candidate.sensitivity))
        throw Error(ErrorCode::kInvalidArgument, "A candidate's sensitivity or taking is not finite.", place);
    }
  }
}

double least_sum(const BudgetTable& table, size_t budget) {
  double sum = table.base[budget];
  for (const auto& options : table.nodes) sum += least_taken(options, budget);
  return sum;
}

double most_sum(const BudgetTable& table, size_t budget) {
  double sum = table.base[budget];
  for (const auto& options : table.nodes) {
    double most = options[0].takes[budget];
    for (const Option& option : options) most = std::max(most, option.takes[budget]);
    sum += most;
  }
  return sum;
}

double spread_of(const std::vector<BitCandidate>& candidates) {
  double least = candidates[0].sensitivity, most = least;
  for (const BitCandidate& one : candidates)
    least = std::min(least, one.sensitivity), most = std::max(most, one.sensitivity);
  return most - least;
}

BudgetTable whole_table(const BitProblem& problem) {
  BudgetTable table;
  for (const Budget& budget : problem.budgets) table.base.push_back(budget.base), table.limit.push_back(budget.limit);
  std::vector<double> spread;
  for (const auto& candidates : problem.nodes) spread.push_back(spread_of(candidates));
  table.place = stable_order(spread.size(), [&](size_t a, size_t b) { return spread[a] > spread[b]; });
  for (const size_t n : table.place) {
    const std::vector<BitCandidate>& candidates = problem.nodes[n];
    std::vector<Option>& options = table.nodes.emplace_back();
    for (size_t c = 0; c < candidates.size(); ++c)
      options.push_back({c, candidates[c].sensitivity, candidates[c].takes});
  }
  return table;
}

void check_each_budget(const BitProblem& problem, const BudgetTable& table) {
  std::vector<std::string> targets, sentences;
  for (size_t b = 0; b < table.budgets(); ++b) {
    const double least = least_sum(table, b);
    const std::string& target = problem.budgets[b].target;
    if (least <= table.limit[b] || std::find(targets.begin(), targets.end(), target) != targets.end()) continue;
    targets.push_back(target);
    sentences.push_back(target + " " + number_in_nine_digits(table.limit[b]) + " (at least " +
                        number_in_nine_digits(least) + ")");
  }
  if (!targets.empty())
    throw Error(ErrorCode::kInvalidConfig, "These budgets cannot be met: " + joined(sentences) + ".", kPlace, kHint);
}

/// Takes out what does not fit beside the least of the others, until all does. False where a node loses everything.
bool drop_unfitting(BudgetTable& table) {
  for (bool dropped = true; dropped;) {
    dropped = false;
    std::vector<double> least;
    for (size_t b = 0; b < table.budgets(); ++b) least.push_back(least_sum(table, b));
    for (auto& options : table.nodes) {
      std::vector<double> own;
      for (size_t b = 0; b < table.budgets(); ++b) own.push_back(least_taken(options, b));
      const size_t gone = std::erase_if(options, [&](const Option& option) {
        for (size_t b = 0; b < own.size(); ++b)
          if (least[b] + (option.takes[b] - own[b]) > table.limit[b] + table.slack(b)) return true;
        return false;
      });
      if (options.empty()) return false;
      dropped |= gone > 0;
    }
  }
  return true;
}

void drop_idle_budgets(BudgetTable& table) {
  for (size_t b = table.budgets(); b-- > 0;) {
    if (most_sum(table, b) > table.limit[b]) continue;
    const auto at = static_cast<std::ptrdiff_t>(b);
    table.limit.erase(table.limit.begin() + at);
    table.base.erase(table.base.begin() + at);
    for (auto& options : table.nodes)
      for (Option& option : options) option.takes.erase(option.takes.begin() + at);
  }
}

bool no_more(const Option& a, const Option& b) {
  bool less = a.cost <= b.cost;
  for (size_t k = 0; k < a.takes.size(); ++k) less &= a.takes[k] <= b.takes[k];
  return less;
}

void drop_outdone(std::vector<Option>& options) {
  std::vector<Option> kept;
  for (size_t k = 0; k < options.size(); ++k) {
    bool outdone = false;
    for (size_t other = 0; other < options.size() && !outdone; ++other)
      outdone =
          other != k && no_more(options[other], options[k]) && (other < k || !no_more(options[k], options[other]));
    if (!outdone) kept.push_back(options[k]);
  }
  options = std::move(kept);
}

}  // namespace

double least_taken(const std::vector<BudgetTable::Option>& options, size_t budget) {
  double least = options[0].takes[budget];
  for (const Option& option : options) least = std::min(least, option.takes[budget]);
  return least;
}

double BudgetTable::slack(size_t budget) const {
  return kRounding * (std::fabs(limit[budget]) + std::fabs(base[budget]));
}

std::optional<BudgetTable::Sums> BudgetTable::sums(const std::vector<size_t>& picks) const {
  Sums sums{0, base};
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Option& option = nodes[n][picks[n]];
    sums.cost += option.cost;
    for (size_t b = 0; b < budgets(); ++b) sums.taken[b] += option.takes[b];
  }
  for (size_t b = 0; b < budgets(); ++b)
    if (sums.taken[b] > limit[b]) return std::nullopt;
  return sums;
}

BudgetTable table_of(const BitProblem& problem) {
  check(problem);
  BudgetTable table = whole_table(problem);
  check_each_budget(problem, table);
  drop_idle_budgets(table);
  if (!drop_unfitting(table)) none_fits(problem);
  for (auto& options : table.nodes) drop_outdone(options);
  return table;
}

void none_fits(const BitProblem& problem) {
  std::vector<std::string> targets;
  for (const Budget& budget : problem.budgets)
    if (std::isfinite(budget.limit) && std::find(targets.begin(), targets.end(), budget.target) == targets.end())
      targets.push_back(budget.target);
  throw Error(ErrorCode::kInvalidConfig,
              "Each of these budgets can be met, and no choice that meets all was found: " + joined(targets) + ".",
              kPlace, kHint);
}

}  // namespace tersor::mixed
