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
void AddScaled(double factor, const double* HWY_RESTRICT x, size_t n, double* HWY_RESTRICT y) {
  for (size_t k = 0; k < n; ++k) y[k] += factor * x[k];
}

void AddScaledRows(const double* factors, const double* const* x, size_t count, size_t n, double* HWY_RESTRICT y) {
  size_t row = 0;
  for (; row + 4 <= count; row += 4) {
    const double a = factors[row], b = factors[row + 1], c = factors[row + 2], d = factors[row + 3];
    const double* HWY_RESTRICT xa = x[row];
    const double* HWY_RESTRICT xb = x[row + 1];
    const double* HWY_RESTRICT xc = x[row + 2];
    const double* HWY_RESTRICT xd = x[row + 3];
    for (size_t k = 0; k < n; ++k) y[k] = (((y[k] + a * xa[k]) + b * xb[k]) + c * xc[k]) + d * xd[k];
  }
  for (; row < count; ++row) AddScaled(factors[row], x[row], n, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(AddScaled);
HWY_EXPORT(AddScaledRows);

void add_scaled(double factor, const double* x, size_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(factor, x, n, y);
}

void add_scaled_rows(const double* factors, const double* const* x, size_t count, size_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(AddScaledRows)(factors, x, count, n, y);
}

}  // namespace tersor::kernels
#endif
