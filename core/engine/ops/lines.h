// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ops/layout.h"

namespace tersor::ops {

/// A tensor seen along one of its axes: outer x inner lines of `length` elements that lie `inner` apart, in the order
/// of memory.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;

  /// Calls body(offset of the line's first element) for every line.
  template <class Body>
  void for_each(Body body) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) body(o * length * inner + i);
  }
};

inline Lines lines_along(const TensorType& type, int axis) {
  const int rank = type.shape.rank(), at = physical_axis(axis, rank, type.layout);
  const Shape lying(physical_dims(type));
  return {lying.elements(0, at), lying[at], lying.elements(at + 1, rank)};
}

}  // namespace tersor::ops
