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
struct FloatExpParts {
  V fraction;
  W exponent;
};

/// As many vectors as go through each step of exp together: steps of one wait for each other, those of many do not.
constexpr size_t kExpVectors = 16;
constexpr size_t kExpValues = kExpVectors * hn::MaxLanes(hn::ScalableTag<float>());

/// `values` within -104 and 89, beyond which exp is 0 or infinite as a float, become fractions. `n`: whole vectors.
HWY_NOINLINE void SplitExps(float* HWY_RESTRICT values, int32_t* HWY_RESTRICT exponents, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const auto no_fraction = hn::Set(d, kNoFraction), log_2_of_e = hn::Set(d, kLog2OfE);
  const auto log_of_2 = hn::Set(d, kLogOfTwo[0]), rest_of_log = hn::Set(d, kLogOfTwo[1]);
  const auto bits = hn::Set(whole, kNoFractionBits);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto x = hn::Load(d, values + i);
    const auto shifted = hn::Add(hn::Mul(x, log_2_of_e), no_fraction), k = hn::Sub(shifted, no_fraction);
    hn::Store(hn::Sub(hn::BitCast(whole, shifted), bits), whole, exponents + i);
    hn::Store(hn::Sub(hn::Sub(x, hn::Mul(k, log_of_2)), hn::Mul(k, rest_of_log)), d, values + i);
  }
  // By Estrin's scheme: half as many steps wait for the one before as by Horner's.
  const auto c0 = hn::Set(d, kExpSeries[4]), c1 = hn::Set(d, kExpSeries[3]), c2 = hn::Set(d, kExpSeries[2]),
             c3 = hn::Set(d, kExpSeries[1]), c4 = hn::Set(d, kExpSeries[0]);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto r = hn::Load(d, values + i), square = hn::Mul(r, r);
    const auto low = hn::Add(c0, hn::Mul(c1, r)), high = hn::Add(c2, hn::Mul(c3, r));
    const auto series = hn::Add(low, hn::Mul(square, hn::Add(high, hn::Mul(square, c4))));
    hn::Store(hn::Add(r, hn::Mul(square, series)), d, values + i);
  }
}

/// 2^exponent for -126 and above; infinite for 128.
template <class D, class W>
HWY_INLINE auto PowerOfTwo(D d, W exponent) {
  const hn::RebindToSigned<D> whole;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(whole, kExponentBias))));
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

/// Two powers of two, so that neither a vanishing nor an overflowing result needs a case of its own.
template <class D, class E>
HWY_INLINE auto ExpOf(D d, E e) {
  const auto half = hn::ShiftRight<1>(e.exponent);
  const auto lower = PowerOfTwo(d, half), upper = PowerOfTwo(d, hn::Sub(e.exponent, half));
  return hn::Mul(hn::Mul(hn::Add(hn::Set(d, kOne), e.fraction), lower), upper);
}

/// The same for arguments of kExpAddsNothing and above: one power is enough.
template <class D, class E>
HWY_INLINE auto NormalExpOf(D d, E e) {
  return hn::Mul(hn::Add(hn::Set(d, kOne), e.fraction), PowerOfTwo(d, e.exponent));
}

/// exp - 1, for such arguments too: what lies below them adds nothing to -1.
template <class D, class E>
HWY_INLINE auto Expm1Of(D d, E e) {
  const auto scale = PowerOfTwo(d, e.exponent);
  return hn::Add(hn::Mul(scale, e.fraction), hn::Sub(scale, hn::Set(d, kOne)));
}

// What follows are functions in two parts, with exp between them: Argument gives what exp is taken of, within -104 and
// 89, and Finish what the function comes to, of x and of that exp.

struct ExpFunction {
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, x, kExpIsZero, kExpIsInfinite);
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return OrNan(x, ExpOf(d, e));
  }
};

/// Of x - most.
struct ExpOfDifference {
  float most;
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return ExpFunction().Argument(d, hn::Sub(x, hn::Set(d, most)));
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return ExpFunction().Finish(d, hn::Sub(x, hn::Set(d, most)), e);
  }
};

/// 0 below -88.4.
struct SigmoidFunction {
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, hn::Neg(x), kExpAddsNothing, kExpIsInfinite);
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    const V one = hn::Set(d, kOne);
    return OrNan(x, hn::Div(one, hn::Add(one, NormalExpOf(d, e))));
  }
};

struct SigmoidGateFunction : SigmoidFunction {
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return hn::Mul(x, SigmoidFunction::Finish(d, x, e));
  }
};

struct TanhFunction {
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, hn::Mul(hn::Set(d, -2), hn::Abs(x)), kExpAddsNothing, 0);
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    const V expm1 = Expm1Of(d, e);
    return OrNan(x, hn::CopySign(hn::Div(expm1, hn::Add(expm1, hn::Set(d, 2))), x));
  }
};

/// x + x R(x^2) for |x| <= 1, beyond that 1 - exp(-Q(|x|)) up to 4, from where on it is 1. R approximates erf(x) / x -
/// 1 and Q -log(1 - erf(x)).
struct ErfFunction {
  template <class D, class V>
  HWY_INLINE V Reduced(D d, V x) const {
    return Limited(d, hn::Abs(x), 0, kErfIsOne);
  }
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return hn::Neg(Polynomial(d, kErfFar, Reduced(d, x)));
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    const V one = hn::Set(d, kOne), m = Reduced(d, x);
    const V small = hn::Add(m, hn::Mul(m, Polynomial(d, kErfNear, hn::Mul(m, m))));
    const V tail = hn::Sub(one, NormalExpOf(d, e));
    return OrNan(x, hn::CopySign(hn::IfThenElse(hn::Gt(m, one), tail, small), x));
  }
};

/// x sigmoid(a x), 0 where x is minus infinity.
struct SwishFunction {
  float a;
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return SigmoidFunction().Argument(d, hn::Mul(hn::Set(d, a), x));
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return Gated(d, x, SigmoidFunction().Finish(d, hn::Mul(hn::Set(d, a), x), e));
  }
  template <class D, class V>
  HWY_INLINE static V Gated(D d, V x, V gate) {
    return OrNan(x, hn::Mul(Limited(d, x, -3.40282347e38f, std::numeric_limits<float>::infinity()), gate));
  }
};

struct GeluTanhFunction {
  /// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)): 2 u.
  template <class D, class V>
  HWY_INLINE V TwiceInner(D d, V x) const {
    const V cubic = hn::Mul(hn::Mul(hn::Mul(x, x), x), hn::Set(d, 0.044715f));
    return hn::Mul(hn::Set(d, 1.59576912f), hn::Add(x, cubic));
  }
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return SigmoidFunction().Argument(d, TwiceInner(d, x));
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return SwishFunction::Gated(d, x, SigmoidFunction().Finish(d, TwiceInner(d, x), e));
  }
};

struct EluFunction {
  float a, b;
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, x, kExpAddsNothing, 0);
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    const V below = hn::Mul(hn::Set(d, a), Expm1Of(d, e));
    return OrNan(x, hn::Mul(hn::Set(d, b), hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, below)));
  }
};

/// a x + b cut to 0 ... 1, with comparisons because the sign of max(0, -0) is left open.
template <class D, class V>
HWY_INLINE V Unit(D d, V x, float a, float b) {
  const auto y = hn::Add(hn::Mul(hn::Set(d, a), x), hn::Set(d, b)), one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), hn::Zero(d), hn::IfThenElse(hn::Gt(y, one), one, y));
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
