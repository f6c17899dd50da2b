// SPDX-License-Identifier: Apache-2.0
// The innermost loop of tiles of sums. Compiled once per SIMD target: include inside the target's namespace only,
// through foreach_target.
#if defined(TERSOR_ALONG_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_ALONG_ROWS_INL_H
#undef TERSOR_ALONG_ROWS_INL_H
#else
#define TERSOR_ALONG_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include "core/kernels/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

/// add(at, weights) for each `kStep` numbers of the rows from `first` up to `last`, which begin at rows[r] + at, and
/// for the `width` weights of them all; the weights after it. May move `rows`.
template <int kStep, int kRows, class Number, class Weight, class Add>
HWY_INLINE const Weight* AlongRows(const Number* (&rows)[kRows], int64_t first, int64_t last, const Weight* weights,
                                   size_t width, Add&& add) {
#if HWY_TARGET == HWY_WASM
  // V8 computes the address of each number, except for a constant behind a pointer: two numbers to a pointer. The
  // branch between them keeps V8 from loading all of both first, for which there are no registers.
  TERSOR_UNROLL for (int r = 0; r < kRows; ++r) rows[r] += kStep * first;
  for (auto left = static_cast<int32_t>(last - first); left > 0; left -= 2) {
    add(rows, 0, weights);
    weights += width;
    if (left == 1) break;
    add(rows, kStep, weights);
    weights += width;
    TERSOR_UNROLL for (int r = 0; r < kRows; ++r) rows[r] += 2 * kStep;
  }
#else
  for (int64_t k = first; k < last; ++k, weights += width) add(rows, kStep * k, weights);
#endif
  return weights;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
