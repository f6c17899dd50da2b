// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace tersor {

/// The indices 0 to count - 1 by `before`, equal ones in their order.
std::vector<size_t> stable_order(size_t count, const std::function<bool(size_t, size_t)>& before);

/// As std::stable_sort, of which WebAssembly would load 4 kB for each type that is sorted.
template <class T, class Before>
void sort_stably(std::vector<T>& values, Before before) {
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const size_t k : stable_order(values.size(), [&](size_t a, size_t b) { return before(values[a], values[b]); }))
    sorted.push_back(std::move(values[k]));
  values = std::move(sorted);
}

}  // namespace tersor
