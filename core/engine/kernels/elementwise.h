// SPDX-License-Identifier: Apache-2.0
// Loops over float32 arrays, element by element. Every target gives the same bits: one operation of each kind per
// element, in the order written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tersor::kernels {

/// y = min(max(x, low), high); NaN stays NaN.
struct Bounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

enum class Arithmetic : uint8_t { kAdd, kSub, kMul, kDiv };

/// y[k] = bounds(a[k or 0] op b[k or 0]) for n elements; y may be a or b where those move.
void arithmetic(Arithmetic op, const float* a, bool a_moves, const float* b, bool b_moves, size_t n,
                const Bounds& bounds, float* y);

/// y[k] = bounds(x[k]); y may be x.
void clamp(const float* x, size_t n, const Bounds& bounds, float* y);

/// y[r, c] = bounds(x[r, c] * factors[c] + terms[c]), rows x channels; y may be x.
void scale_channels(const float* x, size_t rows, size_t channels, const float* factors, const float* terms,
                    const Bounds& bounds, float* y);

/// y[c] = the largest x[r][c] of `count` rows (1 or more) of n floats. Where neither is larger the earlier one stays.
void max_of_rows(const float* const* x, size_t count, size_t n, float* y);

/// y[c] = (x[0][c] + x[1][c] + ...) / divisor.
void mean_of_rows(const float* const* x, size_t count, size_t n, float divisor, float* y);

}  // namespace tersor::kernels
