// SPDX-License-Identifier: Apache-2.0
// Loops of a training step, beside its matrix products. Every target gives the same bits: sums of floats are made in
// eight lanes, sixteen terms each after another in float and these in double.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tersor::kernels {

/// Codes from low to high (whole numbers below 2^22, the zero point taken away) of a step `scale`, blended into the
/// values by `fraction` (0 to 1).
struct FakeGrid {
  float scale, low, high, fraction;
};

/// y[k] = x[k] + fraction (scale * code(x[k] / scale) - x[k]), the code rounded to even within low and high; exactly
/// scale * code where the fraction is 1. y may be x.
void fake_quantize(const float* x, size_t n, const FakeGrid& grid, float* y);

/// dx[k] = dy[k] where x[k] / scale lies within low - 1/2 and high + 1/2, beyond it (1 - fraction) dy[k]; dx may be dy,
/// or null. Returns the sum of dy[k] times (code less x[k] / scale where that lies within, else code).
double fake_quantize_gradient(const float* x, const float* dy, size_t n, const FakeGrid& grid, float* dx);

/// by_a[k] = twice (a[k] - b[k]), plus so_far[k] where that is not null; by_a may be so_far, or null. Returns the sum
/// of (a[k] - b[k])^2.
double squared_error(const float* a, const float* b, size_t n, float twice, const float* so_far, float* by_a);

/// Rows of channels.
struct ColumnProducts {
  const float *dy, *y;  // y null: 1
  const float* bias;    // by channel, taken off y; null: 0
  size_t rows, channels;
};
/// Adds to sums[c] what dy times (y - bias) comes to over the rows.
void add_products_by_column(const ColumnProducts& of, double* sums);

/// Adds to sums[c] what x[r * step + c] times dy[r * channels + c] comes to over the rows, one after another in float.
void add_row_of_products(const float* x, size_t step, const float* dy, size_t rows, size_t channels, double* sums);

}  // namespace tersor::kernels
