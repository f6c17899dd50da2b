// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/quantize.h"

#include <algorithm>
#include <cstring>

#include "core/kernels/loop_constants.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

void QuantizeCodes(const float* HWY_RESTRICT x, size_t n, const CodeGrid& grid, uint8_t* HWY_RESTRICT q) {
  const Coder coder(grid.is_signed ? -128 : 0, grid.is_signed ? 127 : 255, grid.zero_point);
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const float scale = grid.scale;
  const auto scales = hn::Set(d, scale);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) coder.store(hn::Div(hn::LoadU(d, x + k), scales), q + k);
  for (; k < n; ++k) q[k] = coder.one(x[k] / scale);
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

/// The lowest bits of a whole number added to kNoFraction are those of the number. WebAssembly's conversion to whole
/// numbers asks first whether they fit.
HWY_INLINE uint8_t code_of(float shifted) {
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  return static_cast<uint8_t>(bits);
}

/// int8 codes are uint8 codes with their highest bit turned, zero points too.
uint8_t turn_of(const CodeGrids& grids) {
  return grids.is_signed ? 0x80 : 0;
}

/// Calls body(place, count, zero points) for some places at a time.
template <class Body>
HWY_INLINE void ForGrids(size_t n, const CodeGrids& grids, const Body& body) {
  constexpr size_t kPlaces = 256;
  static constexpr uint8_t kNone[kPlaces] = {};
  for (size_t k = 0; k < n; k += kPlaces)
    body(k, std::min(kPlaces, n - k), grids.zero_points == nullptr ? kNone : grids.zero_points + k);
}

void QuantizeCodesEach(const float* HWY_RESTRICT from, size_t n, const CodeGrids& grids, uint8_t* HWY_RESTRICT to) {
  const uint8_t turn = turn_of(grids);
  ForGrids(n, grids, [&](size_t at, size_t count, const uint8_t* HWY_RESTRICT zero_points) {
    const float* HWY_RESTRICT x = from + at;
    const float* HWY_RESTRICT scales = grids.scales + at;
    uint8_t* HWY_RESTRICT q = to + at;
    for (size_t k = 0; k < count; ++k) {
      const auto zero_point = static_cast<float>(zero_points[k] ^ turn);
      float steps = x[k] / scales[k];
      steps = steps > 0 - zero_point ? steps : 0 - zero_point;  // NaN too
      steps = steps > 255 - zero_point ? 255 - zero_point : steps;
      q[k] = static_cast<uint8_t>((code_of(steps + kNoFraction) + (zero_points[k] ^ turn)) ^ turn);
    }
  });
}

void DequantizeCodesEach(const uint8_t* HWY_RESTRICT from, size_t n, const CodeGrids& grids, float* HWY_RESTRICT to) {
  const uint8_t turn = turn_of(grids);
  ForGrids(n, grids, [&](size_t at, size_t count, const uint8_t* HWY_RESTRICT zero_points) {
    const uint8_t* HWY_RESTRICT q = from + at;
    const float* HWY_RESTRICT scales = grids.scales + at;
    float* HWY_RESTRICT y = to + at;
    for (size_t k = 0; k < count; ++k) y[k] = static_cast<float>((q[k] ^ turn) - (zero_points[k] ^ turn)) * scales[k];
  });
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

// A plain loop once more. A code less its zero point is exact as a float, and so is a product of two.
template <CodeArithmetic kOp, class A, class B>
HWY_INLINE void CombineRun(const A* HWY_RESTRICT a, const CodeGrid& of_a, const B* HWY_RESTRICT b, const CodeGrid& of_b,
                           size_t n, const CodeGrid& to, uint8_t* HWY_RESTRICT y) {
  constexpr bool kByRatio = kOp == CodeArithmetic::kMulByRatio;
  const float scale_a = of_a.scale, scale_b = of_b.scale, scale = to.scale, ratio = scale_a * scale_b / scale,
              zero_point = static_cast<float>(to.zero_point), shift = kByRatio ? 0 : zero_point,
              low = static_cast<float>(to.is_signed ? -128 : 0) - shift,
              high = static_cast<float>(to.is_signed ? 127 : 255) - shift;
  const int32_t zero_a = of_a.zero_point, zero_b = of_b.zero_point;
  for (size_t k = 0; k < n; ++k) {
    float steps;
    if constexpr (kByRatio) {
      steps = static_cast<float>((a[k] - zero_a) * (b[k] - zero_b)) * ratio + zero_point;
    } else {
      const float left = scale_a * static_cast<float>(a[k] - zero_a),
                  right = scale_b * static_cast<float>(b[k] - zero_b);
      steps = (kOp == CodeArithmetic::kMul ? left * right : left + right) / scale;
    }
    steps = steps >= low ? steps : low;
    steps = steps > high ? high : steps;
    y[k] = code_of((steps + shift) + kNoFraction);
  }
}

template <CodeArithmetic kOp>
void CombineKinds(const uint8_t* a, const CodeGrid& of_a, const uint8_t* b, const CodeGrid& of_b, size_t n,
                  const CodeGrid& to, uint8_t* y) {
  const auto* signed_a = reinterpret_cast<const int8_t*>(a);
  const auto* signed_b = reinterpret_cast<const int8_t*>(b);
  if (of_a.is_signed)
    of_b.is_signed ? CombineRun<kOp>(signed_a, of_a, signed_b, of_b, n, to, y)
                   : CombineRun<kOp>(signed_a, of_a, b, of_b, n, to, y);
  else
    of_b.is_signed ? CombineRun<kOp>(a, of_a, signed_b, of_b, n, to, y) : CombineRun<kOp>(a, of_a, b, of_b, n, to, y);
}

void CombineCodes(CodeArithmetic op, const uint8_t* a, const CodeGrid& of_a, const uint8_t* b, const CodeGrid& of_b,
                  size_t n, const CodeGrid& to, uint8_t* y) {
  switch (op) {
    case CodeArithmetic::kAdd:
      return CombineKinds<CodeArithmetic::kAdd>(a, of_a, b, of_b, n, to, y);
    case CodeArithmetic::kMul:
      return CombineKinds<CodeArithmetic::kMul>(a, of_a, b, of_b, n, to, y);
    case CodeArithmetic::kMulByRatio:
      return CombineKinds<CodeArithmetic::kMulByRatio>(a, of_a, b, of_b, n, to, y);
  }
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
