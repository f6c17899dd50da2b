// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/tensor/shape.h"

namespace tersor::ptq {

/// Calls visit(channel, begin, count) for each run of elements of a channel, in memory order.
template <class Visit>
void for_each_channel_run(const Shape& shape, int axis, Visit visit) {
  const auto channels = static_cast<size_t>(shape[axis]);
  const auto inner = static_cast<size_t>(shape.elements(axis + 1, shape.rank()));
  const auto outer = static_cast<size_t>(shape.elements(0, axis));
  size_t begin = 0;
  for (size_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < channels; ++c, begin += inner) visit(c, begin, inner);
}

}  // namespace tersor::ptq
