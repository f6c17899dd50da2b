// SPDX-License-Identifier: Apache-2.0
// What bias correction needs of rows of channels.
#pragma once

#include <cstddef>

namespace tersor::kernels {

/// Adds to each of `channels` sums min(max(x, low), high) of that channel's x in each of `rows` rows, and to its count
/// how many of these lie between the two, neither counted: for each eight channels sixteen rows after another in float
/// and these in double, in one order on every target; in double alone what is left of channels.
void sum_clamped_rows(const float* x, size_t rows, size_t channels, float low, float high, double* sums,
                      double* counts);

/// Adds a term by channel to each row.
void add_to_rows(float* y, size_t rows, size_t channels, const float* terms);

}  // namespace tersor::kernels
