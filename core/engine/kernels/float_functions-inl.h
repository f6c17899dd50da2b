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

/// exp(-x) = (1 + fraction) 2^exponent with |fraction| < 0.42; the lowest bits of `biased` are the exponent and the
/// bias that floats add to theirs.
template <class V, class W>
struct FloatExpParts {
  V fraction;
  W biased;
};

/// As many vectors as go through each step of exp together: steps of one wait for each other, those of many do not.
/// They go in pairs, for fewer branches.
constexpr size_t kExpVectors = 32, kExpPair = 2;
constexpr size_t kExpValues = kExpVectors * hn::MaxLanes(hn::ScalableTag<float>());

/// body(at) for pairs of vectors up to `n` values.
template <class Body>
HWY_INLINE void InPairs(size_t n, Body body) {
  const size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  for (size_t at = 0; at < n; at += kExpPair * lanes)
    TERSOR_UNROLL for (size_t k = 0; k < kExpPair; ++k) body(at + k * lanes);
}

/// x within -89 and 104, beyond which exp(-x) is infinite or 0 as a float, as a whole number of log(2) and the rest: x
/// = rest - exponent log(2).
template <class D, class V>
HWY_INLINE V SplitExp(D d, V x, int32_t* biased) {
  const hn::RebindToSigned<D> whole;
  const V no_fraction = hn::Set(d, kNoFractionBiased);
  const V shifted = hn::Sub(no_fraction, hn::Mul(x, hn::Set(d, kLog2OfE))), k = hn::Sub(shifted, no_fraction);
  hn::Store(hn::BitCast(whole, shifted), whole, biased);
  return hn::Add(hn::Add(x, hn::Mul(k, hn::Set(d, kLogOfTwo[0]))), hn::Mul(k, hn::Set(d, kLogOfTwo[1])));
}

/// What SplitExp left becomes exp(-rest) - 1.
HWY_NOINLINE void SumExpSeries(float* HWY_RESTRICT rests, size_t n) {
  const hn::ScalableTag<float> d;
  // By Estrin's scheme: half as many steps wait for the one before as by Horner's.
  const auto c0 = hn::Set(d, kExpSeries[4]), c1 = hn::Set(d, kExpSeries[3]), c2 = hn::Set(d, kExpSeries[2]),
             c3 = hn::Set(d, kExpSeries[1]), c4 = hn::Set(d, kExpSeries[0]);
  InPairs(n, [&](size_t at) HWY_ATTR {
    const auto r = hn::Load(d, rests + at), square = hn::Mul(r, r);
    const auto low = hn::Sub(c0, hn::Mul(c1, r)), high = hn::Sub(c2, hn::Mul(c3, r));
    const auto series = hn::Add(low, hn::Mul(square, hn::Add(high, hn::Mul(square, c4))));
    hn::Store(hn::Sub(hn::Mul(square, series), r), d, rests + at);
  });
}

/// 2^exponent for -126 and above; infinite for 128.
template <class D, class W>
HWY_INLINE auto PowerOfTwo(D d, W biased) {
  return hn::BitCast(d, hn::ShiftLeft<23>(biased));
}

template <class D, class V>
HWY_INLINE V Limited(D d, V x, float least, float most) {
  return BoundedNumber(x, hn::Set(d, least), hn::Set(d, most));
}

/// y, or x itself where that is NaN: the bits that a NaN gets on its way are each target's own.
template <class V>
HWY_INLINE V OrNan(V x, V y) {
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

/// Two powers of two, so that neither a vanishing nor an overflowing result needs a case of its own.
template <class D, class E>
HWY_INLINE auto ExpOf(D d, E e) {
  const hn::RebindToSigned<D> whole;
  const auto exponent = hn::Sub(e.biased, hn::Set(whole, kNoFractionBiasedBits)), half = hn::ShiftRight<1>(exponent);
  const auto bias = hn::Set(whole, kExponentBias);
  const auto lower = PowerOfTwo(d, hn::Add(half, bias)), upper = PowerOfTwo(d, hn::Sub(e.biased, half));
  return hn::Mul(hn::Mul(hn::Add(hn::Set(d, kOne), e.fraction), lower), upper);
}

/// The same for arguments up to kExpOfMinusAddsNothing: one power is enough.
template <class D, class E>
HWY_INLINE auto NormalExpOf(D d, E e) {
  return hn::Mul(hn::Add(hn::Set(d, kOne), e.fraction), PowerOfTwo(d, e.biased));
}

/// exp - 1, for such arguments too: what lies below them adds nothing to -1.
template <class D, class E>
HWY_INLINE auto Expm1Of(D d, E e) {
  const auto scale = PowerOfTwo(d, e.biased);
  return hn::Add(hn::Mul(scale, e.fraction), hn::Sub(scale, hn::Set(d, kOne)));
}

// What follows are functions in two parts, with exp between them: Argument gives what exp is taken of with its sign
// turned, within -89 and 104 and a number whatever x is, and Finish what the function comes to, of x and of that exp.

struct ExpFunction {
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, hn::Neg(x), kExpOfMinusIsInfinite, kExpOfMinusIsZero);
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
    return Limited(d, hn::Sub(hn::Set(d, most), x), kExpOfMinusIsInfinite, kExpOfMinusIsZero);
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
    return Limited(d, x, kExpOfMinusIsInfinite, kExpOfMinusAddsNothing);
  }
  /// Of a number.
  template <class D, class E>
  HWY_INLINE static auto OfNumber(D d, E e) {
    const auto one = hn::Set(d, kOne);
    return hn::Div(one, hn::Add(one, NormalExpOf(d, e)));
  }
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return OrNan(x, OfNumber(d, e));
  }
};

struct SigmoidGateFunction : SigmoidFunction {
  template <class D, class V, class E>
  HWY_INLINE V Finish(D d, V x, E e) const {
    return hn::Mul(x, OfNumber(d, e));
  }
};

struct TanhFunction {
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, hn::Mul(hn::Set(d, 2), hn::Abs(x)), 0, kExpOfMinusAddsNothing);
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
    return Polynomial(d, kErfFar, Reduced(d, x));
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
    return SwishFunction::Gated(d, x, SigmoidFunction::OfNumber(d, e));
  }
};

struct EluFunction {
  float a, b;
  template <class D, class V>
  HWY_INLINE V Argument(D d, V x) const {
    return Limited(d, hn::Neg(x), 0, kExpOfMinusAddsNothing);
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
