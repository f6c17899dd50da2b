// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of floats of any size. Compiled once per SIMD target, like functions-inl.h.
#if defined(TERSOR_TRIGONOMETRY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_TRIGONOMETRY_INL_H
#undef TERSOR_TRIGONOMETRY_INL_H
#else
#define TERSOR_TRIGONOMETRY_INL_H
#endif

#include "core/kernels/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

/// x = quarters * pi/2 + rest, |rest| <= pi/4; of `quarters` only the last two bits count.
struct Quarters {
  uint64_t quarters;
  double rest;
};

/// For floats of 2^19 and more: their product with the 96 bits of 2/pi that matter, by integers (Payne and Hanek).
HWY_INLINE Quarters ReduceLarge(float x) {
  // 2/pi after 32 bits of zeros.
  constexpr uint64_t kTwoOverPi[] = {0,           0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u,
                                     0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu};
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const uint64_t m = (bits & 0x7fffffu) | 0x800000u;
  const int e = static_cast<int>(bits >> 23 & 255u) - 150;  // |x| = m 2^e
  // Bits of 2/pi whose product with 2^e is a multiple of 4 do not count: the first that does has the weight 2.
  const unsigned first = static_cast<unsigned>(e + 30), word = first / 32, offset = first % 32;
  const uint64_t high = kTwoOverPi[word] << 32 | kTwoOverPi[word + 1];
  const uint64_t low = kTwoOverPi[word + 2] << 32 | kTwoOverPi[word + 3];
  const uint64_t window = high << offset | (low >> 32) >> (32 - offset), rest = (low << offset) >> 32;
  const uint64_t product = m * window + (m * rest >> 32);  // in units of 2^-62 quarters
  const uint64_t quarters = (product + (uint64_t{1} << 61)) >> 62;
  const double angle = static_cast<double>(static_cast<int64_t>(product - (quarters << 62))) * (kHalfPi / 0x1p62);
  if (bits >> 31 != 0) return {0 - quarters, -angle};
  return {quarters, angle};
}

HWY_INLINE Quarters Reduce(float x) {
  if (x > 524288.0f || x < -524288.0f) return ReduceLarge(x);
  const double wide = x;
  const double shifted = wide * 0.6366197723675814 + kNoFractionOfDouble, k = shifted - kNoFractionOfDouble;
  // The first part of pi/2 has 33 bits: its product is exact.
  return {BitsOf(shifted), (wide - k * 1.5707963267341256) - k * 6.077100506506192e-11};
}

HWY_INLINE double SineOfRest(double r) {
  constexpr double kTaylor[] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                                1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  return r * (1 + r * r * Polynomial(kTaylor, r * r));
}

HWY_INLINE double CosineOfRest(double r) {
  constexpr double kTaylor[] = {1.0 / 20922789888000,
                                -1.0 / 87178291200,
                                1.0 / 479001600,
                                -1.0 / 3628800,
                                1.0 / 40320,
                                -1.0 / 720,
                                1.0 / 24,
                                -0.5,
                                1.0};
  return Polynomial(kTaylor, r * r);
}

/// The sine `ahead` quarters of a turn further on.
HWY_INLINE double SineAhead(float x, uint64_t ahead) {
  if (!(x - x == 0)) return kNan;
  const Quarters q = Reduce(x);
  const uint64_t quarters = q.quarters + ahead;
  const double y = (quarters & 1) != 0 ? CosineOfRest(q.rest) : SineOfRest(q.rest);
  return (quarters & 2) != 0 ? -y : y;
}

HWY_INLINE double Tangent(float x) {
  if (!(x - x == 0)) return kNan;
  const Quarters q = Reduce(x);
  const double sine = SineOfRest(q.rest), cosine = CosineOfRest(q.rest);
  return (q.quarters & 1) != 0 ? -cosine / sine : sine / cosine;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
