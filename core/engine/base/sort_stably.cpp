// SPDX-License-Identifier: Apache-2.0
#include "core/base/sort_stably.h"

#include <algorithm>
#include <numeric>

namespace tersor {

std::vector<size_t> stable_order(size_t count, const std::function<bool(size_t, size_t)>& before) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace tersor
