// SPDX-License-Identifier: Apache-2.0
// Sums of whole numbers, exact.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tersor::kernels {

/// The sum of n numbers, at most 2^15 of them.
int32_t sum_of(const int16_t* x, size_t n);

/// Of a few columns of n numbers, `stride` apart: products[i * (i + 1) / 2 + j] is the sum of products of columns i and
/// j <= i. None may leave 32 bits.
void products_of_columns(const int16_t* columns, size_t count, size_t stride, size_t n, int32_t* products);

}  // namespace tersor::kernels
