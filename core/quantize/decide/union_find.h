// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace tersor::ptq {

/// Disjoint sets of the numbers 0 to count - 1. The least member represents its set, so the result does not depend on
/// the order of the joins.
class UnionFind {
 public:
  explicit UnionFind(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }

  size_t find(size_t member) {
    while (parent_[member] != member) {
      parent_[member] = parent_[parent_[member]];
      member = parent_[member];
    }
    return member;
  }
  void join(size_t a, size_t b) {
    a = find(a);
    b = find(b);
    if (a < b) parent_[b] = a;
    if (b < a) parent_[a] = b;
  }

 private:
  std::vector<size_t> parent_;
};

}  // namespace tersor::ptq
