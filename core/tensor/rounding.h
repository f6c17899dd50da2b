// SPDX-License-Identifier: Apache-2.0
// The house's one rounding: to the nearest integer, ties to even. IEEE's default mode is never changed, so nearbyint is
// that on every target, WebAssembly included.
#pragma once

#include <cmath>

namespace tersor {

inline float round_half_even(float x) {
  return std::nearbyintf(x);
}
inline double round_half_even(double x) {
  return std::nearbyint(x);
}

}  // namespace tersor
