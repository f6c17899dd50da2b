// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tersor::ptq {

/// Yes-or-no choices of least total cost. A cost is given for each answer, and for each pair whose first choice is yes
/// while the second is no. The solution is a minimum cut, found by maximum flow (Dinic's algorithm) in integers. It is
/// exact, so all machines find the same.
class MinimumCut {
 public:
  /// A cost that rules an answer out.
  static constexpr int64_t kNever = INT64_MAX / 8;

  size_t add_choice();
  /// Adds a cost of a choice; costs of several calls add up. Costs are 0 or more.
  void add_cost(size_t choice, int64_t of_yes, int64_t of_no);
  void add_pair_cost(size_t says_yes, size_t says_no, int64_t cost);

  /// The answers of least total cost; true is yes. Of several solutions it is that with the most yes.
  std::vector<bool> solve() const;
  /// What those answers cost, one for each choice; kNever at most.
  int64_t cost_of(const std::vector<bool>& answers) const;

 private:
  struct Pair {
    size_t from, to;
    int64_t cost;
  };
  std::vector<int64_t> yes_, no_;
  std::vector<Pair> pairs_;
};

}  // namespace tersor::ptq
