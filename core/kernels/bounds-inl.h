// SPDX-License-Identifier: Apache-2.0
// The bounds that an epilogue puts on a sum. Compiled once per SIMD target: include inside the target's namespace only,
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

/// x < low ? low : x.
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

/// The same, and at the other end: NaN stays NaN, and a zero that equals a bound keeps its sign.
template <class V>
HWY_INLINE V Bounded(V x, V low, V high) {
  x = AtLeast(x, low);
#if HWY_TARGET == HWY_WASM
  return V{wasm_f32x4_pmin(x.raw, high.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(high, x);
#else
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#endif
}

/// The same of a number; of NaN the lower bound.
template <class V>
HWY_INLINE V Within(V x, V low, V high) {
#if HWY_TARGET == HWY_WASM
  return V{wasm_f32x4_pmin(high.raw, wasm_f32x4_pmax(low.raw, x.raw))};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(hn::Max(x, low), high);
#else
  x = hn::IfThenElse(hn::Gt(x, low), x, low);
  return hn::IfThenElse(hn::Lt(x, high), x, high);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
