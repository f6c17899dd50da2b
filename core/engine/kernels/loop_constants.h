// SPDX-License-Identifier: Apache-2.0
// Numbers for vectors that are set before a loop. They are defined elsewhere so that a compiler of the loop does not
// know them: V8 makes a vector that WebAssembly has as a constant anew wherever it is read, by three instructions.
#pragma once

#include <cstdint>

namespace tersor::kernels {

/// 1.5 * 2^23: added to a float within 2^22 it rounds to even, and the sum's lowest bits are the whole number's.
extern const float kNoFraction;
/// 2^23: the lowest 23 bits of its sum with a whole number below it are the number's.
extern const float kWholeAsBits;
/// The bits of kNoFraction.
extern const int32_t kNoFractionBits;
/// What floats add to their exponents, and kNoFraction with that on top, and the bits of the sum.
extern const int32_t kExponentBias;
extern const float kNoFractionBiased;
extern const int32_t kNoFractionBiasedBits;

extern const float kOne;
/// Of e, to the base 2.
extern const float kLog2OfE;
/// log 2 in two parts, the first of 10 bits: its products with whole numbers are exact.
extern const float kLogOfTwo[2];
/// (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2, least maximal error in exp(r): 4e-9.
extern const float kExpSeries[5];
/// From where on exp(-x) is 0 or adds nothing to 1, and below which it is infinite as a float.
extern const float kExpOfMinusIsZero, kExpOfMinusAddsNothing, kExpOfMinusIsInfinite;
/// erf(x) / x - 1 by x^2 for |x| <= 1, and -log(1 - erf(x)) by x up to kErfIsOne; least maximal error in erf, 1.2e-9
/// and 1.1e-9.
extern const float kErfNear[7], kErfFar[7];
extern const float kErfIsOne;

}  // namespace tersor::kernels
