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

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// exp(x) = (1 + fraction) lower upper with |fraction| < 0.42: two powers of two, so that neither a vanishing nor an
/// overflowing result needs a case of its own.
template <class V>
struct ExpFactors {
  V fraction, lower, upper;
};

/// For x within -104 and 89, beyond which exp is 0 or infinite as a float.
template <class D, class V>
HWY_INLINE ExpFactors<V> FactorsOfExp(D d, V x) {
  const hn::RebindToSigned<D> whole;
  // Adding it leaves no room for a fraction: the sum's low bits are a number rounded to an integer.
  const V no_fraction = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, 1.44269504f)), no_fraction), k = hn::Sub(shifted, no_fraction);
  // log 2 in two parts, the first of 10 bits: its products with k are exact.
  const V r = hn::Sub(hn::Sub(x, hn::Mul(k, hn::Set(d, 0.693359375f))), hn::Mul(k, hn::Set(d, -2.12194440e-4f)));
  // (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2, least maximal error in exp(r): 4e-9.
  V p = hn::Set(d, 0.0013814540579915047f);
  for (const float c : {0.00836874544620514f, 0.04166838899254799f, 0.1666652113199234f, 0.4999999403953552f})
    p = hn::Add(hn::Mul(p, r), hn::Set(d, c));
  const auto exponent = hn::Sub(hn::BitCast(whole, shifted), hn::Set(whole, 0x4b400000));
  const auto half = hn::ShiftRight<1>(exponent), bias = hn::Set(whole, 127);
  return {hn::Add(r, hn::Mul(hn::Mul(r, r), p)), hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias))),
          hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias)))};
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
  return hn::Mul(hn::Mul(hn::Add(hn::Set(d, 1), e.fraction), e.lower), e.upper);
}

template <class D, class V>
HWY_INLINE V ExpOfNumber(D d, V x) {
  return ExpWithinLimits(d, Limited(d, x, -104, 89));
}

template <class D, class V>
HWY_INLINE V FloatExp(D d, V x) {
  return OrNan(x, ExpOfNumber(d, x));
}

/// exp(x) - 1 for x <= 0.
template <class D, class V>
HWY_INLINE V Expm1OfNumber(D d, V x) {
  const auto e = FactorsOfExp(d, Limited(d, x, -104, 0));
  const V scale = hn::Mul(e.lower, e.upper);
  return hn::Add(hn::Mul(scale, e.fraction), hn::Sub(scale, hn::Set(d, 1)));
}

/// What would be below the normal floats is 0.
template <class D, class V>
HWY_INLINE V FloatSigmoid(D d, V x) {
  const V one = hn::Set(d, 1);
  return OrNan(x, hn::Div(one, hn::Add(one, ExpOfNumber(d, hn::Neg(x)))));
}

template <class D, class V>
HWY_INLINE V FloatTanh(D d, V x) {
  const V e = Expm1OfNumber(d, hn::Mul(hn::Set(d, -2), hn::Abs(x)));
  return OrNan(x, hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, 2))), x));
}

/// x + x R(x^2) for |x| <= 1, beyond that 1 - exp(-Q(|x|)) up to 4, from where on it is 1. R approximates erf(x) / x -
/// 1 and Q -log(1 - erf(x)), both with the least maximal error in erf, 1.2e-9 and 1.1e-9.
template <class D, class V>
HWY_INLINE V FloatErf(D d, V x) {
  const V one = hn::Set(d, 1), m = Limited(d, hn::Abs(x), 0, 4), z = hn::Mul(m, m);
  V r = hn::Set(d, 7.889119297033176e-05f), q = hn::Set(d, -0.0001855748996604234f);
  for (const float c : {-0.0008020841050893068f, 0.005189535208046436f, -0.026854444295167923f, 0.11283600330352783f,
                        -0.3761262595653534f, 0.12837916612625122f})
    r = hn::Add(hn::Mul(r, z), hn::Set(d, c));
  for (const float c : {0.0029396156314760447f, -0.021805351600050926f, 0.10303743183612823f, 0.6382256150245667f,
                        1.1270400285720825f, 0.00035370892146602273f})
    q = hn::Add(hn::Mul(q, m), hn::Set(d, c));
  const V small = hn::Add(m, hn::Mul(m, r)), tail = hn::Sub(one, ExpWithinLimits(d, hn::Neg(q)));
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
