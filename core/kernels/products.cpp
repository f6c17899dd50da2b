// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

// Vectorized by the compiler, for each target: whole numbers have one sum in any order.
int32_t SumOf(const int16_t* HWY_RESTRICT x, size_t n) {
  int32_t sum = 0;
  for (size_t k = 0; k < n; ++k) sum += x[k];
  return sum;
}

void ProductsOfColumns(const int16_t* HWY_RESTRICT columns, size_t count, size_t stride, size_t n,
                       int32_t* HWY_RESTRICT products) {
  for (size_t i = 0; i < count; ++i) {
    const int16_t* const own = columns + i * stride;
    size_t j = 0;
    for (; j + 3 <= i + 1; j += 3) {
      const int16_t* const other = columns + j * stride;
      int32_t a = 0, b = 0, c = 0;
      for (size_t k = 0; k < n; ++k) {
        a += int32_t{own[k]} * other[k];
        b += int32_t{own[k]} * other[stride + k];
        c += int32_t{own[k]} * other[2 * stride + k];
      }
      *products++ = a, *products++ = b, *products++ = c;
    }
    for (; j <= i; ++j) {
      const int16_t* const other = columns + j * stride;
      int32_t sum = 0;
      for (size_t k = 0; k < n; ++k) sum += int32_t{own[k]} * other[k];
      *products++ = sum;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(SumOf);
HWY_EXPORT(ProductsOfColumns);

int32_t sum_of(const int16_t* x, size_t n) {
  return HWY_DYNAMIC_DISPATCH(SumOf)(x, n);
}

void products_of_columns(const int16_t* columns, size_t count, size_t stride, size_t n, int32_t* products) {
  HWY_DYNAMIC_DISPATCH(ProductsOfColumns)(columns, count, stride, n, products);
}

}  // namespace tersor::kernels
#endif
