// SPDX-License-Identifier: Apache-2.0
// How the values of a grid of even steps change with the step. With n = x / scale, low and high the ends of the grid in
// steps, and y = scale * (rne(n) within [low, high]):
//   dy/dscale  = rne(n) - n within, low below and high above (rounding lets the gradient pass, the range does not)
// Source: LSQ (Esser et al. 2020), equation 3.
#pragma once

#include "core/tensor/rounding.h"

namespace tersor::trainable {

template <class T>
struct StepSlopes {
  T within;        // 1 where rne(n) is within the range, else 0
  T below, above;  // 1 where it is below, or above
  T rest;          // rne(n) - n within, else 0

  T by_scale(T low, T high) const { return rest + below * low + above * high; }
};

/// NaN counts as below.
template <class T>
StepSlopes<T> step_slopes(T x, T scale, T low, T high) {
  T n = x / scale;
  n = n > low - 1 ? n : low - 1;
  n = n < high + 1 ? n : high + 1;
  const T rounded = round_half_even_small(n);
  const T below = rounded < low ? T(1) : T(0), above = rounded > high ? T(1) : T(0);
  const T within = T(1) - below - above;
  return {within, below, above, within * (rounded - n)};
}

}  // namespace tersor::trainable
