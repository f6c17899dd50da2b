// SPDX-License-Identifier: Apache-2.0
// What normalizations and bias correction need of a run of floats: sums in double over eight interleaved lanes that are
// added up pairwise, so that the order is the same on every target and the compiler may use its vectors.
#pragma once

#include <cstddef>

namespace tersor::kernels {

/// The sum of (x - shift) to the power 1 or 2. 0 for no elements.
double sum_shifted(const float* x, size_t n, double shift);
double sum_squares_shifted(const float* x, size_t n, double shift);

/// Mean, and mean of the squared distances from it. Both 0 for no elements.
struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const float* x, size_t n);

/// y[k] = (x[k] - shift) * factor, in double and rounded once; y may be x.
void shift_and_scale(const float* x, size_t n, double shift, double factor, float* y);

/// y[k] = x[k] + term; y may be x.
void add_constant(const float* x, size_t n, float term, float* y);

/// y[k] = y[k] * factors[k] + terms[k], each rounded; `terms` may be null.
void scale_elements(float* y, size_t n, const float* factors, const float* terms);

}  // namespace tersor::kernels
