// SPDX-License-Identifier: Apache-2.0
// The functions that networks spend their time in, on vectors of floats: within 3 units in the last place. Compiled
// once per SIMD target: include inside the target's namespace only, through foreach_target.
#if defined(TERSOR_FLOAT_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_FLOAT_FUNCTIONS_INL_H
#undef TERSOR_FLOAT_FUNCTIONS_INL_H
#else
#define TERSOR_FLOAT_FUNCTIONS_INL_H
#endif

#include <limits>

#include <hwy/highway.h>

#include "core/kernels/bounds-inl.h"
#include "core/kernels/loop_constants.h"
#include "core/kernels/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// c[0] x^(N-1) + ... + c[N-1].
template <class D, class V, size_t N>
HWY_INLINE V Polynomial(D d, const float (&c)[N], V x) {
  V sum = hn::Set(d, c[0]);
  TERSOR_UNROLL for (size_t k = 1; k < N; ++k) sum = hn::Add(hn::Mul(sum, x), hn::Set(d, c[k]));
  return sum;
}

/// exp(x) = (1 + fraction) 2^exponent with |fraction| < 0.42.
template <class V, class W>
struct SplitFloatExp {
  V fraction;
  W exponent;
};

/// For x within -104 and 89, beyond which exp is 0 or infinite as a float.
template <class D, class V>
HWY_INLINE auto SplitExpOf(D d, V x) {
  const hn::RebindToSigned<D> whole;
  const V no_fraction = hn::Set(d, kNoFraction);
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, kLog2OfE)), no_fraction), k = hn::Sub(shifted, no_fraction);
  const V r = hn::Sub(hn::Sub(x, hn::Mul(k, hn::Set(d, kLogOfTwo[0]))), hn::Mul(k, hn::Set(d, kLogOfTwo[1])));
  // By Estrin's scheme: half as many steps wait for the one before as by Horner's.
  const auto c = [&](size_t power) HWY_ATTR { return hn::Set(d, kExpSeries[4 - power]); };
  const V square = hn::Mul(r, r), low = hn::Add(c(0), hn::Mul(c(1), r)), high = hn::Add(c(2), hn::Mul(c(3), r));
  const V series = hn::Add(low, hn::Mul(square, hn::Add(high, hn::Mul(square, c(4)))));
  const auto exponent = hn::Sub(hn::BitCast(whole, shifted), hn::Set(whole, kNoFractionBits));
  return SplitFloatExp<V, decltype(exponent)>{hn::Add(r, hn::Mul(square, series)), exponent};
}

/// 2^exponent for -126 and above; infinite for 128.
template <class D, class W>
HWY_INLINE auto PowerOfTwo(D d, W exponent) {
  const hn::RebindToSigned<D> whole;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(whole, kExponentBias))));
}

/// exp(x) = (1 + fraction) lower upper: two powers of two, so that neither a vanishing nor an overflowing result needs
/// a case of its own.
template <class V>
struct ExpFactors {
  V fraction, lower, upper;
};

/// For x within -104 and 89.
template <class D, class V>
HWY_INLINE ExpFactors<V> FactorsOfExp(D d, V x) {
  const auto [fraction, exponent] = SplitExpOf(d, x);
  const auto half = hn::ShiftRight<1>(exponent);
  return {fraction, PowerOfTwo(d, half), PowerOfTwo(d, hn::Sub(exponent, half))};
}

template <class D, class V>
HWY_INLINE V Limited(D d, V x, float least, float most) {
  return Bounded(x, hn::Set(d, least), hn::Set(d, most));
}

/// y, or x itself where that is NaN: the bits that a NaN gets on its way are each target's own.
template <class V>
HWY_INLINE V OrNan(V x, V y) {
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

/// For x within -104 and 89.
template <class D, class V>
HWY_INLINE V ExpWithinLimits(D d, V x) {
  const auto e = FactorsOfExp(d, x);
  return hn::Mul(hn::Mul(hn::Add(hn::Set(d, kOne), e.fraction), e.lower), e.upper);
}

template <class D, class V>
HWY_INLINE V ExpOfNumber(D d, V x) {
  return ExpWithinLimits(d, Limited(d, x, kExpIsZero, kExpIsInfinite));
}

template <class D, class V>
HWY_INLINE V FloatExp(D d, V x) {
  return OrNan(x, ExpOfNumber(d, x));
}

/// exp(x) - 1 for x <= 0.
template <class D, class V>
HWY_INLINE V Expm1OfNumber(D d, V x) {
  const auto e = FactorsOfExp(d, Limited(d, x, kExpIsZero, 0));
  const V scale = hn::Mul(e.lower, e.upper);
  return hn::Add(hn::Mul(scale, e.fraction), hn::Sub(scale, hn::Set(d, kOne)));
}

/// 0 below -88.4. One power of two is enough: exp(-87) adds nothing to 1.
template <class D, class V>
HWY_INLINE V FloatSigmoid(D d, V x) {
  const V one = hn::Set(d, kOne);
  const auto e = SplitExpOf(d, Limited(d, hn::Neg(x), kExpAddsNothing, kExpIsInfinite));
  const V exp = hn::Mul(hn::Add(one, e.fraction), PowerOfTwo(d, e.exponent));
  return OrNan(x, hn::Div(one, hn::Add(one, exp)));
}

template <class D, class V>
HWY_INLINE V FloatTanh(D d, V x) {
  const V e = Expm1OfNumber(d, hn::Mul(hn::Set(d, -2), hn::Abs(x)));
  return OrNan(x, hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, 2))), x));
}

/// x + x R(x^2) for |x| <= 1, beyond that 1 - exp(-Q(|x|)) up to 4, from where on it is 1. R approximates erf(x) / x -
/// 1 and Q -log(1 - erf(x)).
template <class D, class V>
HWY_INLINE V FloatErf(D d, V x) {
  const V one = hn::Set(d, kOne), m = Limited(d, hn::Abs(x), 0, kErfIsOne), z = hn::Mul(m, m);
  const V small = hn::Add(m, hn::Mul(m, Polynomial(d, kErfNear, z)));
  const V tail = hn::Sub(one, ExpWithinLimits(d, hn::Neg(Polynomial(d, kErfFar, m))));
  return OrNan(x, hn::CopySign(hn::IfThenElse(hn::Gt(m, one), tail, small), x));
}

/// a x + b cut to 0 ... 1, with comparisons because the sign of max(0, -0) is left open.
template <class D, class V>
HWY_INLINE V Unit(D d, V x, float a, float b) {
  const auto y = hn::Add(hn::Mul(hn::Set(d, a), x), hn::Set(d, b)), one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), hn::Zero(d), hn::IfThenElse(hn::Gt(y, one), one, y));
}

/// x sigmoid(t), 0 where x is minus infinity.
template <class D, class V>
HWY_INLINE V Gated(D d, V x, V t) {
  return OrNan(x, hn::Mul(Limited(d, x, -3.40282347e38f, std::numeric_limits<float>::infinity()), FloatSigmoid(d, t)));
}

template <class D, class V>
HWY_INLINE V FloatGeluTanh(D d, V x) {
  // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
  const V cubic = hn::Mul(hn::Mul(hn::Mul(x, x), x), hn::Set(d, 0.044715f));
  return Gated(d, x, hn::Mul(hn::Set(d, 1.59576912f), hn::Add(x, cubic)));
}

template <class D, class V>
HWY_INLINE V FloatElu(D d, V x, float a, float b) {
  const V zero = hn::Zero(d), below = hn::Mul(hn::Set(d, a), Expm1OfNumber(d, x));
  return OrNan(x, hn::Mul(hn::Set(d, b), hn::IfThenElse(hn::Gt(x, zero), x, below)));
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
