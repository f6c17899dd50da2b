// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tersor::kernels {

/// y[k] += factor * x[k], product and sum each rounded; x and y do not overlap.
void add_scaled(double factor, const double* x, size_t n, double* y);
void add_scaled(float factor, const float* x, size_t n, float* y);

/// The same with each of `count` rows of x, one after another.
void add_scaled_rows(const double* factors, const double* const* x, size_t count, size_t n, double* y);
void add_scaled_rows(const float* factors, const float* const* x, size_t count, size_t n, float* y);

}  // namespace tersor::kernels
