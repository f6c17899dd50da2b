// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/runtime_functions.h"

#include <algorithm>

#include "core/kernels/fused.h"
#include "core/kernels/loop_constants.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/runtime_functions.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_WASM
/// a * b + c rounded once in each lane. A call costs less than a copy of this wherever it is needed takes to load.
HWY_NOINLINE v128_t FmaOnceInEach(v128_t a, v128_t b, v128_t c) {
  const auto sum_of = [](v128_t x, v128_t y, v128_t z) HWY_ATTR {
    return wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(x), wasm_f64x2_promote_low_f32x4(y)),
                          wasm_f64x2_promote_low_f32x4(z));
  };
  const auto upper = [](v128_t x) HWY_ATTR { return wasm_i64x2_shuffle(x, x, 1, 1); };
  const auto rounds_twice = [](v128_t sum) HWY_ATTR {
    return wasm_v128_or(
        wasm_i64x2_eq(wasm_v128_and(sum, wasm_i64x2_splat((int64_t{1} << 29) - 1)), wasm_i64x2_splat(int64_t{1} << 28)),
        wasm_f64x2_lt(wasm_f64x2_abs(sum), wasm_f64x2_splat(0x1p-126)));
  };
  const v128_t low = sum_of(a, b, c), high = sum_of(upper(a), upper(b), upper(c));
  if (!wasm_v128_any_true(wasm_v128_or(rounds_twice(low), rounds_twice(high))))
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 2);
  float x[4], y[4], z[4];
  wasm_v128_store(x, a);
  wasm_v128_store(y, b);
  wasm_v128_store(z, c);
  for (size_t k = 0; k < 4; ++k) z[k] = fma_once(x[k], y[k], z[k]);
  return wasm_v128_load(z);
}
#endif

/// a * b + c rounded once in each lane.
template <class D, class V>
HWY_INLINE V FmaOnce(D d, V a, V b, V c) {
  (void)d;
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#elif HWY_TARGET == HWY_WASM
  return V{FmaOnceInEach(a.raw, b.raw, c.raw)};
#else
  constexpr size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN float x[kLanes], y[kLanes], z[kLanes];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t k = 0; k < hn::Lanes(d); ++k) z[k] = fma_once(x[k], y[k], z[k]);
  return hn::Load(d, z);
#endif
}

template <bool kFused, class D, class V>
HWY_INLINE V Step(D d, V a, V b, V c) {
  if constexpr (kFused)
    return FmaOnce(d, a, b, c);
  else
    return hn::Add(hn::Mul(a, b), c);
}

/// From the highest power down.
template <bool kFused, class D, class V, size_t kCount>
HWY_INLINE V Horner(D d, V t, const float (&coefficients)[kCount]) {
  V value = hn::Set(d, coefficients[0]);
  for (size_t k = 1; k < kCount; ++k) value = Step<kFused>(d, value, t, hn::Set(d, coefficients[k]));
  return value;
}

/// As std::max(v, low) and std::min(v, high) have it: NaN stays.
template <class D, class V>
HWY_INLINE V AtLeast(D d, V v, float low) {
  return hn::IfThenElse(hn::Lt(v, hn::Set(d, low)), hn::Set(d, low), v);
}
template <class D, class V>
HWY_INLINE V AtMost(D d, V v, float high) {
  return hn::IfThenElse(hn::Lt(hn::Set(d, high), v), hn::Set(d, high), v);
}

constexpr float kSigmoidAbove[] = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                                   8.51377133304701e-03f, 2.48287947061529e-01f};
constexpr float kSigmoidBelow[] = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                                   1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f};
constexpr float kTanhAbove[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                                5.12229709037114e-08f,  1.48572235717979e-05f, 6.37261928875436e-04f,
                                4.89352455891786e-03f};
constexpr float kTanhBelow[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f,
                                4.89352518554385e-03f};
constexpr float kExponential[] = {
    0x1.694000p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1.0f, 1.0f};

/// x above(x^2) / below(x^2), x within `limit`.
template <bool kFused, class D, class V, size_t kAbove, size_t kBelow>
HWY_INLINE V Ratio(D d, V x, float limit, const float (&above)[kAbove], const float (&below)[kBelow]) {
  x = AtMost(d, AtLeast(d, x, -limit), limit);
  const V t = hn::Mul(x, x);
  return hn::Div(hn::Mul(Horner<kFused>(d, t, above), x), Horner<kFused>(d, t, below));
}

/// y[k] = f(d, x[k]), the last ones in a vector that is padded.
template <class F>
HWY_INLINE void Map(const float* x, size_t n, float* y, const F& f) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) hn::StoreU(f(d, hn::LoadU(d, x + k)), d, y + k);
  if (k == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  std::copy(x + k, x + n, rest);
  hn::Store(f(d, hn::Load(d, rest)), d, rest);
  std::copy(rest, rest + (n - k), y + k);
}

template <bool kFused>
HWY_INLINE void SigmoidLoop(const float* x, size_t n, float* y) {
  Map(x, n, y, [](auto d, auto v) HWY_ATTR {
    const auto ratio = Ratio<kFused>(d, v, 18.0f, kSigmoidAbove, kSigmoidBelow);
    return AtMost(d, AtLeast(d, hn::Add(ratio, hn::Set(d, 0.5f)), 0.0f), 1.0f);
  });
}

template <bool kFused>
HWY_INLINE void TanhLoop(const float* x, size_t n, float* y) {
  Map(x, n, y, [](auto d, auto v) HWY_ATTR { return Ratio<kFused>(d, v, 9.0f, kTanhAbove, kTanhBelow); });
}

template <bool kFused>
HWY_INLINE void ExponentialLoop(const float* x, size_t n, float most, float lowest, float* y) {
  constexpr int32_t kAhead = 64;  // so that only the last product may round, to a subnormal number
  // -127 stands for 0 where the power of two is made of an exponent's bits alone.
  const float least_steps = lowest > -100 ? -126.0f : -1000.0f;
  Map(x, n, y, [=](auto d, auto v) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    v = hn::Sub(v, hn::Set(d, most));
    v = hn::IfThenElse(hn::Lt(hn::Set(d, lowest), v), v, hn::Set(d, lowest));
    const auto steps = hn::Sub(Step<kFused>(d, v, hn::Set(d, 1.44269504088896341f), hn::Set(d, kNoFraction)),
                               hn::Set(d, kNoFraction));  // of ln 2
    v = Step<kFused>(d, steps, hn::Set(d, -6.93145752e-1f), v);
    v = Step<kFused>(d, steps, hn::Set(d, -1.42860677e-6f), v);
    const auto p = Horner<kFused>(d, v, kExponential);
    const auto exponent = hn::Add(hn::ConvertTo(di, steps), hn::Set(di, kAhead + 127));
    const auto power = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
    const auto scaled = hn::Mul(hn::Mul(p, power), hn::Set(d, 0x1p-64f));
    return hn::IfThenElseZero(hn::Ge(steps, hn::Set(d, least_steps)), scaled);
  });
}

void Sigmoid(const float* x, size_t n, bool fused, float* y) {
  fused ? SigmoidLoop<true>(x, n, y) : SigmoidLoop<false>(x, n, y);
}

void Tanh(const float* x, size_t n, bool fused, float* y) {
  fused ? TanhLoop<true>(x, n, y) : TanhLoop<false>(x, n, y);
}

void Exponential(const float* x, size_t n, float most, float lowest, bool fused, float* y) {
  fused ? ExponentialLoop<true>(x, n, most, lowest, y) : ExponentialLoop<false>(x, n, most, lowest, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(Sigmoid);
HWY_EXPORT(Tanh);
HWY_EXPORT(Exponential);

void runtime_sigmoid(const float* x, size_t n, bool fused, float* y) {
  HWY_DYNAMIC_DISPATCH(Sigmoid)(x, n, fused, y);
}

void runtime_tanh(const float* x, size_t n, bool fused, float* y) {
  HWY_DYNAMIC_DISPATCH(Tanh)(x, n, fused, y);
}

void runtime_exponential(const float* x, size_t n, float most, float lowest, bool fused, float* y) {
  HWY_DYNAMIC_DISPATCH(Exponential)(x, n, most, lowest, fused, y);
}

}  // namespace tersor::kernels
#endif
