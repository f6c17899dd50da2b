// SPDX-License-Identifier: Apache-2.0
// The last step of whatever makes 8-bit codes: bound, round to even, move by the zero point. Compiled once per SIMD
// target: include inside the target's namespace only, through foreach_target.
#if defined(TERSOR_CODES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_CODES_INL_H
#undef TERSOR_CODES_INL_H
#else
#define TERSOR_CODES_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "core/kernels/bounds-inl.h"
#include "core/kernels/loop_constants.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Steps from zero to codes between low and high. The bounds are whole, so bounding before rounding is the same as
/// after.
class Coder {
 public:
  Coder(int32_t low, int32_t high, int32_t zero_point)
      : low_(static_cast<float>(low - zero_point)),
        high_(static_cast<float>(high - zero_point)),
        zero_point_(zero_point),
        lows_(hn::Set(D(), low_)),
        no_fractions_(hn::Set(D(), kNoFraction)),
        // Codes so that the highest is that of int8.
        zero_bits_(hn::Set(DI(), kNoFractionBits - zero_point + (high - 127))),
        raise_(static_cast<int8_t>(high - 127)) {}

  HWY_INLINE uint8_t one(float steps) const {
    steps = steps > low_ ? steps : low_;
    steps = steps > high_ ? high_ : steps;
    return static_cast<uint8_t>(static_cast<int32_t>((steps + kNoFraction) - kNoFraction) + zero_point_);
  }

  /// A vector of codes; negative ones as bytes, 256 more. NaN is the lowest.
  HWY_INLINE void store(hn::Vec<hn::ScalableTag<float>> steps, uint8_t* HWY_RESTRICT to) const {
    const hn::Rebind<int8_t, D> d8;
    hn::StoreU(hn::Add(hn::DemoteTo(d8, wide(steps)), hn::Set(d8, raise_)), d8, reinterpret_cast<int8_t*>(to));
  }

#if HWY_TARGET == HWY_WASM
  /// Four vectors of them.
  HWY_INLINE void store(const hn::Vec<hn::ScalableTag<float>> (&steps)[4], uint8_t* HWY_RESTRICT to) const {
    const v128_t lower = wasm_i16x8_narrow_i32x4(wide(steps[0]).raw, wide(steps[1]).raw),
                 upper = wasm_i16x8_narrow_i32x4(wide(steps[2]).raw, wide(steps[3]).raw);
    wasm_v128_store(to, wasm_i8x16_add(wasm_i8x16_narrow_i16x8(lower, upper), wasm_i8x16_splat(raise_)));
  }
#endif

 private:
  using D = hn::ScalableTag<float>;
  using DI = hn::RebindToSigned<D>;
  /// The bits of a sum with a number so large, less that number's, are the steps, rounded; those of larger sums are
  /// larger. To narrow them is to bound them above.
  HWY_INLINE hn::Vec<DI> wide(hn::Vec<D> steps) const {
    return hn::Sub(hn::BitCast(DI(), hn::Add(AtLeast(lows_, steps), no_fractions_)), zero_bits_);
  }

  float low_, high_;
  int32_t zero_point_;
  hn::Vec<D> lows_, no_fractions_;
  hn::Vec<DI> zero_bits_;
  int8_t raise_;
};

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
