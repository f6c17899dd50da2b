// SPDX-License-Identifier: Apache-2.0
#include "core/ops/element_order.h"

#include <type_traits>

#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

template <class T>
int compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a || b != b) return static_cast<int>(a != a) - static_cast<int>(b != b);
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

}  // namespace

std::function<int(int64_t, int64_t)> element_order(const Input& input) {
  std::function<int(int64_t, int64_t)> order;
  with_value_type(input.dtype(), [&](auto zero) {
    const auto* x = reinterpret_cast<const decltype(zero)*>(input.data);
    order = [x](int64_t a, int64_t b) { return compare(x[a], x[b]); };
  });
  return order;
}

}  // namespace tersor::ops
