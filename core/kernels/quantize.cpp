// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: rounds to even when added, for what lies within 2^22

/// The bounds are whole, so bounding before rounding is the same as after. NaN becomes the zero point.
uint8_t QuantizeOne(float x, const CodeGrid& grid, float low, float high) {
  float steps = x / grid.scale;
  steps = steps == steps ? steps : 0.0f;
  steps = steps < low ? low : steps;
  steps = steps > high ? high : steps;
  return static_cast<uint8_t>(static_cast<int32_t>((steps + kNoFraction) - kNoFraction) + grid.zero_point);
}

void QuantizeCodes(const float* HWY_RESTRICT x, size_t n, const CodeGrid& grid, uint8_t* HWY_RESTRICT q) {
  const float low = static_cast<float>((grid.is_signed ? -128 : 0) - grid.zero_point),
              high = static_cast<float>((grid.is_signed ? 127 : 255) - grid.zero_point);
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, grid.scale), no_fraction = hn::Set(d, kNoFraction);
  const auto least = hn::Set(d, low), most = hn::Set(d, high);
  // Codes as unsigned bytes: 256 more for negative ones.
  const auto zero_point = hn::Set(di, grid.zero_point), byte = hn::Set(di, 255);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    auto steps = hn::Div(hn::LoadU(d, x + k), scale);
    steps = hn::IfThenElseZero(hn::Eq(steps, steps), steps);
    steps = hn::Min(hn::Max(steps, least), most);
    const auto whole = hn::ConvertTo(di, hn::Sub(hn::Add(steps, no_fraction), no_fraction));
    hn::StoreU(hn::DemoteTo(d8, hn::And(hn::Add(whole, zero_point), byte)), d8, q + k);
  }
  for (; k < n; ++k) q[k] = QuantizeOne(x[k], grid, low, high);
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

void WidenCodes(const uint8_t* HWY_RESTRICT q, size_t n, const CodeGrid& grid, int16_t* HWY_RESTRICT y) {
  const auto zero_point = static_cast<int16_t>(grid.zero_point);
  if (grid.is_signed)
    for (size_t k = 0; k < n; ++k) y[k] = static_cast<int16_t>(static_cast<int8_t>(q[k]) - zero_point);
  else
    for (size_t k = 0; k < n; ++k) y[k] = static_cast<int16_t>(q[k] - zero_point);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(QuantizeCodes);
HWY_EXPORT(DequantizeCodes);
HWY_EXPORT(WidenCodes);

void quantize_codes(const float* x, size_t n, const CodeGrid& grid, uint8_t* q) {
  HWY_DYNAMIC_DISPATCH(QuantizeCodes)(x, n, grid, q);
}

void dequantize_codes(const uint8_t* q, size_t n, const CodeGrid& grid, float* y) {
  HWY_DYNAMIC_DISPATCH(DequantizeCodes)(q, n, grid, y);
}

void widen_codes(const uint8_t* q, size_t n, const CodeGrid& grid, int16_t* y) {
  HWY_DYNAMIC_DISPATCH(WidenCodes)(q, n, grid, y);
}

}  // namespace tersor::kernels
#endif
