// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tersor::ptq {

/// Choices of yes or no with costs: one for each answer, and one for each pair of which the first says yes and the
/// second no. Answers of least total cost are a minimum cut, found by the greatest flow (Dinic's algorithm), exactly
/// and in whole numbers, so that every machine finds the same.
class MinimumCut {
 public:
  static constexpr int64_t kNever = INT64_MAX / 8;

  size_t add_choice();
  /// Costs add up over calls. All are 0 or more.
  void add_cost(size_t choice, int64_t of_yes, int64_t of_no);
  void add_pair_cost(size_t says_yes, size_t says_no, int64_t cost);

  /// True: yes. Of equal totals the one with most yes.
  std::vector<bool> solve() const;

 private:
  struct Pair {
    size_t from, to;
    int64_t cost;
  };
  std::vector<int64_t> yes_, no_;
  std::vector<Pair> pairs_;
};

}  // namespace tersor::ptq
