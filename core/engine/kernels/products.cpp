// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/products.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Eight rows by eight columns at a time, turned over in registers.
void ColumnsOfRows(const uint8_t* const* HWY_RESTRICT rows, size_t count, size_t width, Differences to,
                   int16_t* HWY_RESTRICT columns, size_t stride) {
  size_t rows_in_eights = 0, columns_in_eights = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<int16_t, 8> d16;
  const hn::Repartition<int32_t, decltype(d16)> d32;
  const hn::Repartition<int64_t, decltype(d16)> d64;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const auto turned = hn::Set(d8, to.turned);
  const auto zero = hn::Set(d16, to.zero);
  rows_in_eights = count / 8 * 8, columns_in_eights = width / 8 * 8;
  constexpr size_t kColumnsAtOnce = 64;  // whose ends stay in the nearest cache, with a line of each row
  const auto turn = [&](size_t r, size_t first, size_t end) {
    for (size_t c = first; c < end; c += 8) {
      const auto row = [&](size_t k) {
        return hn::Sub(hn::PromoteTo(d16, hn::Xor(hn::LoadU(d8, rows[r + k] + c), turned)), zero);
      };
      const auto a = row(0), b = row(1), e = row(2), f = row(3), g = row(4), h = row(5), i = row(6), j = row(7);
      const auto ab = hn::BitCast(d32, hn::InterleaveLower(d16, a, b)),
                 ab_high = hn::BitCast(d32, hn::InterleaveUpper(d16, a, b)),
                 ef = hn::BitCast(d32, hn::InterleaveLower(d16, e, f)),
                 ef_high = hn::BitCast(d32, hn::InterleaveUpper(d16, e, f)),
                 gh = hn::BitCast(d32, hn::InterleaveLower(d16, g, h)),
                 gh_high = hn::BitCast(d32, hn::InterleaveUpper(d16, g, h)),
                 ij = hn::BitCast(d32, hn::InterleaveLower(d16, i, j)),
                 ij_high = hn::BitCast(d32, hn::InterleaveUpper(d16, i, j));
      int16_t* const out = columns + c * stride + r;
      const auto store = [&](size_t k, auto front, auto back) {
        const auto lower = hn::BitCast(d64, front), upper = hn::BitCast(d64, back);
        hn::StoreU(hn::BitCast(d16, hn::InterleaveLower(d64, lower, upper)), d16, out + k * stride);
        hn::StoreU(hn::BitCast(d16, hn::InterleaveUpper(d64, lower, upper)), d16, out + (k + 1) * stride);
      };
      store(0, hn::InterleaveLower(d32, ab, ef), hn::InterleaveLower(d32, gh, ij));
      store(2, hn::InterleaveUpper(d32, ab, ef), hn::InterleaveUpper(d32, gh, ij));
      store(4, hn::InterleaveLower(d32, ab_high, ef_high), hn::InterleaveLower(d32, gh_high, ij_high));
      store(6, hn::InterleaveUpper(d32, ab_high, ef_high), hn::InterleaveUpper(d32, gh_high, ij_high));
    }
  };
  for (size_t first = 0; first < columns_in_eights; first += kColumnsAtOnce)
    for (size_t r = 0; r < rows_in_eights; r += 8) turn(r, first, std::min(first + kColumnsAtOnce, columns_in_eights));
#endif
  for (size_t r = 0; r < count; ++r)
    for (size_t c = r < rows_in_eights ? columns_in_eights : 0; c < width; ++c)
      columns[c * stride + r] = static_cast<int16_t>((rows[r][c] ^ to.turned) - to.zero);
}

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

HWY_EXPORT(ColumnsOfRows);
HWY_EXPORT(SumOf);
HWY_EXPORT(ProductsOfColumns);

void columns_of_rows(const uint8_t* const* rows, size_t count, size_t width, const Differences& differences,
                     int16_t* columns, size_t stride) {
  HWY_DYNAMIC_DISPATCH(ColumnsOfRows)(rows, count, width, differences, columns, stride);
}

int32_t sum_of(const int16_t* x, size_t n) {
  return HWY_DYNAMIC_DISPATCH(SumOf)(x, n);
}

void products_of_columns(const int16_t* columns, size_t count, size_t stride, size_t n, int32_t* products) {
  HWY_DYNAMIC_DISPATCH(ProductsOfColumns)(columns, count, stride, n, products);
}

}  // namespace tersor::kernels
#endif
