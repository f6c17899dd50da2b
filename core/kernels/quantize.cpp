// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/quantize.h"

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
