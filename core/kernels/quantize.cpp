// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/quantize.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

/// NaN becomes the zero point.
void QuantizeCodes(const float* HWY_RESTRICT x, size_t n, const CodeGrid& grid, uint8_t* HWY_RESTRICT q) {
  const Coder coder(grid.is_signed ? -128 : 0, grid.is_signed ? 127 : 255, grid.zero_point);
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const float scale = grid.scale;
  const auto scales = hn::Set(d, scale);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    const auto steps = hn::Div(hn::LoadU(d, x + k), scales);
    coder.store(hn::IfThenElseZero(hn::Eq(steps, steps), steps), q + k);
  }
  for (; k < n; ++k) {
    const float steps = x[k] / scale;
    q[k] = coder.one(steps == steps ? steps : 0.0f);
  }
}

// Plain loops, which the compiler vectorizes for each target.

void DequantizeCodes(const uint8_t* HWY_RESTRICT q, size_t n, const CodeGrid& grid, float* HWY_RESTRICT y) {
  const float scale = grid.scale;
  const int32_t zero_point = grid.zero_point;
  if (grid.is_signed)
    for (size_t k = 0; k < n; ++k) y[k] = static_cast<float>(static_cast<int8_t>(q[k]) - zero_point) * scale;
  else
    for (size_t k = 0; k < n; ++k) y[k] = static_cast<float>(q[k] - zero_point) * scale;
}

constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: rounds to even when added, within 2^22

/// With a zero point for each place, or 0 for all.
template <class Code, bool kZero>
HWY_INLINE void QuantizeEach(const float* HWY_RESTRICT x, size_t n, const float* HWY_RESTRICT scales,
                             const Code* HWY_RESTRICT zero_points, Code* HWY_RESTRICT q) {
  constexpr float kLow = std::numeric_limits<Code>::min(), kHigh = std::numeric_limits<Code>::max();
  for (size_t k = 0; k < n; ++k) {
    const float zero_point = kZero ? 0.0f : static_cast<float>(zero_points[k]);
    float steps = x[k] / scales[k];
    steps = steps == steps ? steps : 0.0f;
    steps = steps < kLow - zero_point ? kLow - zero_point : steps;
    steps = steps > kHigh - zero_point ? kHigh - zero_point : steps;
    q[k] = static_cast<Code>(static_cast<int32_t>(((steps + kNoFraction) - kNoFraction) + zero_point));
  }
}

template <class Code, bool kZero>
HWY_INLINE void DequantizeEach(const Code* HWY_RESTRICT q, size_t n, const float* HWY_RESTRICT scales,
                               const Code* HWY_RESTRICT zero_points, float* HWY_RESTRICT y) {
  for (size_t k = 0; k < n; ++k) y[k] = static_cast<float>(q[k] - (kZero ? 0 : zero_points[k])) * scales[k];
}

template <class Code>
HWY_INLINE void QuantizeRun(const float* x, size_t n, const CodeGrids& grids, uint8_t* q) {
  const auto* zero_points = reinterpret_cast<const Code*>(grids.zero_points);
  auto* codes = reinterpret_cast<Code*>(q);
  zero_points == nullptr ? QuantizeEach<Code, true>(x, n, grids.scales, zero_points, codes)
                         : QuantizeEach<Code, false>(x, n, grids.scales, zero_points, codes);
}

template <class Code>
HWY_INLINE void DequantizeRun(const uint8_t* q, size_t n, const CodeGrids& grids, float* y) {
  const auto* zero_points = reinterpret_cast<const Code*>(grids.zero_points);
  const auto* codes = reinterpret_cast<const Code*>(q);
  zero_points == nullptr ? DequantizeEach<Code, true>(codes, n, grids.scales, zero_points, y)
                         : DequantizeEach<Code, false>(codes, n, grids.scales, zero_points, y);
}

void QuantizeCodesEach(const float* x, size_t n, const CodeGrids& grids, uint8_t* q) {
  grids.is_signed ? QuantizeRun<int8_t>(x, n, grids, q) : QuantizeRun<uint8_t>(x, n, grids, q);
}

void DequantizeCodesEach(const uint8_t* q, size_t n, const CodeGrids& grids, float* y) {
  grids.is_signed ? DequantizeRun<int8_t>(q, n, grids, y) : DequantizeRun<uint8_t>(q, n, grids, y);
}

template <bool kSigned>
HWY_INLINE void WidenRun(const uint8_t* HWY_RESTRICT q, size_t n, int16_t zero_point, int16_t* HWY_RESTRICT y) {
  size_t k = 0;
#if HWY_TARGET == HWY_WASM  // where the compiler takes eight at a time
  const v128_t zero_points = wasm_i16x8_splat(zero_point);
  for (; k + 16 <= n; k += 16) {
    const v128_t codes = wasm_v128_load(q + k);
    const v128_t low = kSigned ? wasm_i16x8_extend_low_i8x16(codes) : wasm_u16x8_extend_low_u8x16(codes);
    const v128_t high = kSigned ? wasm_i16x8_extend_high_i8x16(codes) : wasm_u16x8_extend_high_u8x16(codes);
    wasm_v128_store(y + k, wasm_i16x8_sub(low, zero_points));
    wasm_v128_store(y + k + 8, wasm_i16x8_sub(high, zero_points));
  }
#endif
  for (; k < n; ++k) y[k] = static_cast<int16_t>((kSigned ? static_cast<int8_t>(q[k]) : q[k]) - zero_point);
}

void WidenCodes(const uint8_t* HWY_RESTRICT q, size_t n, const CodeGrid& grid, int16_t* HWY_RESTRICT y) {
  const auto zero_point = static_cast<int16_t>(grid.zero_point);
  grid.is_signed ? WidenRun<true>(q, n, zero_point, y) : WidenRun<false>(q, n, zero_point, y);
}

// A plain loop once more. A code less its zero point is exact as a float.
template <bool kMul, class A, class B>
HWY_INLINE void CombineRun(const A* HWY_RESTRICT a, const CodeGrid& of_a, const B* HWY_RESTRICT b, const CodeGrid& of_b,
                           size_t n, const CodeGrid& to, uint8_t* HWY_RESTRICT y) {
  const float scale_a = of_a.scale, scale_b = of_b.scale, scale = to.scale, shift = static_cast<float>(to.zero_point),
              low = static_cast<float>(to.is_signed ? -128 : 0) - shift,
              high = static_cast<float>(to.is_signed ? 127 : 255) - shift;
  const int32_t zero_a = of_a.zero_point, zero_b = of_b.zero_point;
  for (size_t k = 0; k < n; ++k) {
    const float left = scale_a * static_cast<float>(a[k] - zero_a), right = scale_b * static_cast<float>(b[k] - zero_b);
    float steps = (kMul ? left * right : left + right) / scale;
    steps = steps < low ? low : steps;
    steps = steps > high ? high : steps;
    y[k] = static_cast<uint8_t>(static_cast<int32_t>(((steps + shift) + kNoFraction) - kNoFraction));
  }
}

template <bool kMul>
void CombineKinds(const uint8_t* a, const CodeGrid& of_a, const uint8_t* b, const CodeGrid& of_b, size_t n,
                  const CodeGrid& to, uint8_t* y) {
  const auto* signed_a = reinterpret_cast<const int8_t*>(a);
  const auto* signed_b = reinterpret_cast<const int8_t*>(b);
  if (of_a.is_signed)
    of_b.is_signed ? CombineRun<kMul>(signed_a, of_a, signed_b, of_b, n, to, y)
                   : CombineRun<kMul>(signed_a, of_a, b, of_b, n, to, y);
  else
    of_b.is_signed ? CombineRun<kMul>(a, of_a, signed_b, of_b, n, to, y) : CombineRun<kMul>(a, of_a, b, of_b, n, to, y);
}

void CombineCodes(CodeArithmetic op, const uint8_t* a, const CodeGrid& of_a, const uint8_t* b, const CodeGrid& of_b,
                  size_t n, const CodeGrid& to, uint8_t* y) {
  if (op == CodeArithmetic::kMul)
    CombineKinds<true>(a, of_a, b, of_b, n, to, y);
  else
    CombineKinds<false>(a, of_a, b, of_b, n, to, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(QuantizeCodes);
HWY_EXPORT(DequantizeCodes);
HWY_EXPORT(QuantizeCodesEach);
HWY_EXPORT(DequantizeCodesEach);
HWY_EXPORT(WidenCodes);
HWY_EXPORT(CombineCodes);

void quantize_codes(const float* x, size_t n, const CodeGrid& grid, uint8_t* q) {
  HWY_DYNAMIC_DISPATCH(QuantizeCodes)(x, n, grid, q);
}

void dequantize_codes(const uint8_t* q, size_t n, const CodeGrid& grid, float* y) {
  HWY_DYNAMIC_DISPATCH(DequantizeCodes)(q, n, grid, y);
}

void quantize_codes(const float* x, size_t n, const CodeGrids& grids, uint8_t* q) {
  HWY_DYNAMIC_DISPATCH(QuantizeCodesEach)(x, n, grids, q);
}

void dequantize_codes(const uint8_t* q, size_t n, const CodeGrids& grids, float* y) {
  HWY_DYNAMIC_DISPATCH(DequantizeCodesEach)(q, n, grids, y);
}

void widen_codes(const uint8_t* q, size_t n, const CodeGrid& grid, int16_t* y) {
  HWY_DYNAMIC_DISPATCH(WidenCodes)(q, n, grid, y);
}

void combine_codes(CodeArithmetic op, const uint8_t* a, const CodeGrid& of_a, const uint8_t* b, const CodeGrid& of_b,
                   size_t n, const CodeGrid& to, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(CombineCodes)(op, a, of_a, b, of_b, n, to, y);
}

}  // namespace tersor::kernels
#endif
