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

/// The same for |x| < 2^51, in two additions that vectorize: after 1.5 * 2^52 there is no room for a fraction.
inline double round_half_even_small(double x) {
  constexpr double kNoFraction = 6755399441055744.0;
  return (x + kNoFraction) - kNoFraction;
}
/// For |x| < 2^22.
inline float round_half_even_small(float x) {
  constexpr float kNoFraction = 12582912.0f;
  return (x + kNoFraction) - kNoFraction;
}

}  // namespace tersor
