// SPDX-License-Identifier: Apache-2.0
// Sums of whole numbers, exact, and the columns that they are of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tersor::kernels {

/// The sum of n numbers, at most 2^15 of them.
int32_t sum_of(const int16_t* x, size_t n);

/// 8-bit codes as differences from a zero point: (code ^ turned) - zero.
struct Differences {
  uint8_t turned;
  int16_t zero;
};
/// Of `count` rows of `width` codes: columns[c * stride + r] is the difference of rows[r][c].
void columns_of_rows(const uint8_t* const* rows, size_t count, size_t width, const Differences& differences,
                     int16_t* columns, size_t stride);

/// Of a few columns of n numbers, `stride` apart: products[i * (i + 1) / 2 + j] is the sum of products of columns i and
/// j <= i. None may leave 32 bits.
void products_of_columns(const int16_t* columns, size_t count, size_t stride, size_t n, int32_t* products);

}  // namespace tersor::kernels
