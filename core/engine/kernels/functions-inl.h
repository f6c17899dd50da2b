// SPDX-License-Identifier: Apache-2.0
// One value at a time in double, written so that loops around them vectorize. Compiled once per SIMD target: include
// inside the target's namespace only, through foreach_target.
#if defined(TERSOR_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_FUNCTIONS_INL_H
#undef TERSOR_FUNCTIONS_INL_H
#else
#define TERSOR_FUNCTIONS_INL_H
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHalfPi = 1.5707963267948966, kPi = 3.141592653589793;
// Adding this leaves no room for a fraction: the sum's low bits are x rounded to an integer.
constexpr double kNoFractionOfDouble = 6755399441055744.0;

HWY_INLINE uint64_t BitsOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

HWY_INLINE double DoubleOf(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// c[0] x^(N-1) + ... + c[N-1].
template <size_t N>
HWY_INLINE double Polynomial(const double (&c)[N], double x) {
  double sum = c[0];
#if defined(__clang__)
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 32
#endif
  for (size_t k = 1; k < N; ++k) sum = sum * x + c[k];
  return sum;
}

/// exp(x) - 1 = scale * (fraction + 1) - 1 with |fraction| < 0.42, for |x| <= 708.
struct ExpParts {
  double scale, fraction;
};

HWY_INLINE ExpParts SplitExp(double x) {
  // Taylor's series up to r^13 on |r| <= log(2) / 2.
  constexpr double kTaylor[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
  const double shifted = x * 1.4426950408889634 + kNoFractionOfDouble, k = shifted - kNoFractionOfDouble;
  const double r = (x - k * 0.6931471804855391) - k * 7.440617110012397e-11;
  return {DoubleOf((BitsOf(shifted) + 1023) << 52), r + r * r * Polynomial(kTaylor, r)};
}

HWY_INLINE double Limit(double x, double most) {
  x = x > most ? most : x;
  return x < -most ? -most : x;
}

/// Beyond 708 it stays where it is: infinite or 0 as a float.
HWY_INLINE double Exp(double x) {
  const ExpParts parts = SplitExp(Limit(x, 708));
  return parts.scale + parts.scale * parts.fraction;
}

HWY_INLINE double Expm1(double x) {
  const ExpParts parts = SplitExp(Limit(x, 708));
  return parts.scale * parts.fraction + (parts.scale - 1);
}

/// Of normal numbers; negative ones give NaN.
HWY_INLINE double Log(double x) {
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m - 1) / (m + 1)).
  constexpr double kAtanh[] = {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                               2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcdu, kBitsOfOne = 0x3ff0000000000000u;
  const uint64_t moved = BitsOf(x) + (kBitsOfOne - kRootOfHalf);
  const double k = DoubleOf(0x4330000000000000u | (moved >> 52)) - (4503599627370496.0 + 1023);
  const double m = DoubleOf((moved & 0x000fffffffffffffu) + kRootOfHalf), f = m - 1;
  const double s = f / (2 + f), z = s * s;
  // log(1 + f) = f - s (f - tail), which rounds less than 2 s + s tail.
  const double fraction = f - s * (f - z * Polynomial(kAtanh, z));
  double y = k * 0.6931471804855391 + (fraction + k * 7.440617110012397e-11);
  y = x < kInfinity ? y : x;
  y = x == 0 ? -kInfinity : y;
  return x < 0 ? kNan : y;
}

/// log(1 + u) for u > -1.
HWY_INLINE double Log1p(double u) {
  const double v = 1 + u;
  const double lost = (u - (v - 1)) / v;
  return Log(v) + (u < 1e30 ? lost : 0);
}

HWY_INLINE double Magnitude(double x) {
  return DoubleOf(BitsOf(x) & 0x7fffffffffffffffu);
}

HWY_INLINE double WithSign(double magnitude, double sign) {
  return DoubleOf(BitsOf(magnitude) | (BitsOf(sign) & 0x8000000000000000u));
}

HWY_INLINE double Sinh(double x) {
  const double e = Expm1(Magnitude(x));
  return WithSign((e + e / (e + 1)) / 2, x);
}

HWY_INLINE double Cosh(double x) {
  const double e = Exp(Magnitude(x));
  return (e + 1 / e) / 2;
}

HWY_INLINE double Softplus(double x) {
  return (x > 0 ? x : 0.0) + Log1p(Exp(-Magnitude(x)));
}

HWY_INLINE double Asinh(double x) {
  const double m = Magnitude(x), square = m * m;
  const double y = Log1p(m + square / (1 + std::sqrt(square + 1)));
  return WithSign(m < kInfinity ? y : m, x);
}

HWY_INLINE double Acosh(double x) {
  const double t = x - 1;
  return t < 0 ? kNan : Log1p(t + std::sqrt(t * (x + 1)));
}

HWY_INLINE double Atanh(double x) {
  const double m = Magnitude(x);
  return WithSign(0.5 * Log1p(2 * m / (1 - m)), x);
}

HWY_INLINE double Atan(double x) {
  // Two reductions, 1/x and the angle pi/4, leave |t| <= tan(pi/8); then Gregory's series.
  constexpr double kGregory[] = {1.0 / 41,  -1.0 / 39, 1.0 / 37,  -1.0 / 35, 1.0 / 33,  -1.0 / 31, 1.0 / 29,
                                 -1.0 / 27, 1.0 / 25,  -1.0 / 23, 1.0 / 21,  -1.0 / 19, 1.0 / 17,  -1.0 / 15,
                                 1.0 / 13,  -1.0 / 11, 1.0 / 9,   -1.0 / 7,  1.0 / 5,   -1.0 / 3};
  const double m = Magnitude(x);
  const double inner = m > 1 ? 1 / m : m;
  const bool turned = inner > 0.41421356237309503;
  const double t = turned ? (inner - 1) / (inner + 1) : inner, z = t * t;
  const double angle = (turned ? kHalfPi / 2 : 0.0) + (t + t * z * Polynomial(kGregory, z));
  return WithSign(m > 1 ? kHalfPi - angle : angle, x);
}

HWY_INLINE double Asin(double x) {
  return Atan(x / std::sqrt((1 - x) * (1 + x)));
}

HWY_INLINE double Acos(double x) {
  return 2 * Atan(std::sqrt((1 - x) / (1 + x)));
}

/// 1 - erf(m) for m >= 0: exp(-m^2) t P(2 t - 1) with t = 2 / (2 + m), P in Chebyshev polynomials.
HWY_INLINE double ErfcOfPositive(double m) {
  constexpr double kChebyshev[] = {
      7.4187257485966171e-14,  -6.1456001462136306e-14, -8.5864228432517965e-13, 3.5714931488477044e-12,
      2.0612138554721696e-12,  -6.1603901052045855e-11, 1.4320822712256224e-10,  6.3470582783628112e-10,
      -4.1547216310151983e-09, -1.2962846852306563e-09, 8.2346088274194934e-08,  -1.4297608181169865e-07,
      -1.5154665553171482e-06, 5.4424416455050160e-06,  3.2780315741731371e-05,  -1.6075825829915380e-04,
      -1.1128447433526325e-03, 3.6711423958366392e-03,  6.5095158828786525e-02,  3.5543692127049849e-01};
  const double t = 2 / (2 + m), u = 2 * (2 * t - 1);
  double b = 0, before = 0;
#if defined(__clang__)
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 32
#endif
  for (const double c : kChebyshev) {  // Clenshaw's recurrence
    const double next = (u * b - before) + c;
    before = b;
    b = next;
  }
  const double sum = (0.5 * u * b - before) + 0.57703373861646969;
  return Exp(-m * m) * t * sum;
}

HWY_INLINE double ErfOfSmall(double x) {
  // Maclaurin's series, for |x| <= 1.
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  constexpr double kSeries[] = {-1.0 / (1307674368000.0 * 31),
                                1.0 / (87178291200.0 * 29),
                                -1.0 / (6227020800.0 * 27),
                                1.0 / (479001600.0 * 25),
                                -1.0 / (39916800.0 * 23),
                                1.0 / (3628800.0 * 21),
                                -1.0 / (362880.0 * 19),
                                1.0 / (40320.0 * 17),
                                -1.0 / (5040.0 * 15),
                                1.0 / (720.0 * 13),
                                -1.0 / (120.0 * 11),
                                1.0 / (24.0 * 9),
                                -1.0 / (6.0 * 7),
                                1.0 / (2.0 * 5),
                                -1.0 / 3,
                                1.0};
  return kTwoOverRootPi * x * Polynomial(kSeries, x * x);
}

/// 1 + erf(x), with its relative precision kept where x is negative.
HWY_INLINE double OnePlusErf(double x) {
  const double m = Magnitude(x), tail = ErfcOfPositive(m);
  const double small = 1 + ErfOfSmall(Limit(x, 1));
  return m <= 0.5 ? small : x < 0 ? tail : 2 - tail;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
