// SPDX-License-Identifier: Apache-2.0
// Values put between bounds. Compiled once per SIMD target: include inside the target's namespace only,
// through foreach_target.
#if defined(TERSOR_BOUNDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_BOUNDS_INL_H
#undef TERSOR_BOUNDS_INL_H
#else
#define TERSOR_BOUNDS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// x < low ? low : x: NaN stays NaN, and a zero that equals the bound keeps its sign.
template <class V>
HWY_INLINE V AtLeast(V x, V low) {
#if HWY_TARGET == HWY_WASM
  return V{wasm_f32x4_pmax(x.raw, low.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  // Of a NaN and a number, and of equal numbers, the instruction gives the second.
  return hn::Max(low, x);
#else
  return hn::IfThenElse(hn::Lt(x, low), low, x);
#endif
}

/// high < x ? high : x, the same at the other end.
template <class V>
HWY_INLINE V AtMost(V x, V high) {
#if HWY_TARGET == HWY_WASM
  return V{wasm_f32x4_pmin(x.raw, high.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(high, x);
#else
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#endif
}

template <class V>
HWY_INLINE V Bounded(V x, V low, V high) {
  return AtMost(AtLeast(x, low), high);
}

/// The same of a number; of NaN the lower bound: the operands are turned, and low < NaN does not hold.
template <class V>
HWY_INLINE V BoundedNumber(V x, V low, V high) {
  return AtMost(AtLeast(low, x), high);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
