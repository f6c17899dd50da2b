// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/add_scaled.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/add_scaled.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

// Vectorized by the compiler, for each target: Highway has no doubles for WebAssembly.
template <class T>
HWY_INLINE void Add(T factor, const T* HWY_RESTRICT x, size_t n, T* HWY_RESTRICT y) {
  for (size_t k = 0; k < n; ++k) y[k] += factor * x[k];
}

template <class T>
HWY_INLINE void AddEight(const T* factors, const T* const* x, size_t n, T* HWY_RESTRICT y) {
  const T a = factors[0], b = factors[1], c = factors[2], d = factors[3];
  const T e = factors[4], f = factors[5], g = factors[6], h = factors[7];
  const T* HWY_RESTRICT xa = x[0];
  const T* HWY_RESTRICT xb = x[1];
  const T* HWY_RESTRICT xc = x[2];
  const T* HWY_RESTRICT xd = x[3];
  const T* HWY_RESTRICT xe = x[4];
  const T* HWY_RESTRICT xf = x[5];
  const T* HWY_RESTRICT xg = x[6];
  const T* HWY_RESTRICT xh = x[7];
  for (size_t k = 0; k < n; ++k) {
    const T four = (((y[k] + a * xa[k]) + b * xb[k]) + c * xc[k]) + d * xd[k];
    y[k] = (((four + e * xe[k]) + f * xf[k]) + g * xg[k]) + h * xh[k];
  }
}

template <class T>
HWY_INLINE void AddRows(const T* factors, const T* const* x, size_t count, size_t n, T* HWY_RESTRICT y) {
  size_t row = 0;
  for (; row + 8 <= count; row += 8) AddEight(factors + row, x + row, n, y);
  for (; row < count; ++row) Add(factors[row], x[row], n, y);
}

void AddScaled(double factor, const double* x, size_t n, double* y) {
  Add(factor, x, n, y);
}

void AddScaledFloats(float factor, const float* x, size_t n, float* y) {
  Add(factor, x, n, y);
}

void AddScaledRows(const double* factors, const double* const* x, size_t count, size_t n, double* y) {
  AddRows(factors, x, count, n, y);
}

void AddScaledRowsOfFloats(const float* factors, const float* const* x, size_t count, size_t n, float* y) {
  AddRows(factors, x, count, n, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(AddScaled);
HWY_EXPORT(AddScaledFloats);
HWY_EXPORT(AddScaledRows);
HWY_EXPORT(AddScaledRowsOfFloats);

void add_scaled(double factor, const double* x, size_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(factor, x, n, y);
}

void add_scaled(float factor, const float* x, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(AddScaledFloats)(factor, x, n, y);
}

void add_scaled_rows(const double* factors, const double* const* x, size_t count, size_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(AddScaledRows)(factors, x, count, n, y);
}

void add_scaled_rows(const float* factors, const float* const* x, size_t count, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(AddScaledRowsOfFloats)(factors, x, count, n, y);
}

}  // namespace tersor::kernels
#endif
