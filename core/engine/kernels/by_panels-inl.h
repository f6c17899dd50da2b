// SPDX-License-Identifier: Apache-2.0
// Rows of numbers by panels of weights, a call of a tile's loop at a time. Compiled once per SIMD target: include
// inside the target's namespace only, through foreach_target.
#if defined(TERSOR_BY_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_BY_PANELS_INL_H
#undef TERSOR_BY_PANELS_INL_H
#else
#define TERSOR_BY_PANELS_INL_H
#endif

#include <algorithm>
#include <type_traits>

#include <hwy/highway.h>

#include "core/kernels/panels.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

/// Of a panel: two vectors of floats or of int32.
constexpr size_t kMostWidth = 2 * HWY_MAX_BYTES / 4;
template <class T>
HWY_ALIGN constexpr T kNoBias[kMostWidth] = {};

/// A panel of which only `columns` exist, by way of whole rows.
template <class Call, class OnePanel>
void PartOfPanel(const Call& part, int64_t count, int64_t columns, int64_t width, const OnePanel& one_panel) {
  using T = std::remove_pointer_t<decltype(part.out)>;
  HWY_ALIGN T bias[kMostWidth] = {}, rows[kRowsPerCall * kMostWidth];
  std::copy_n(part.bias, columns, bias);
  Call call = part;
  call.bias = bias, call.out = rows, call.out_step = width;
  one_panel(call, count);
  for (int64_t r = 0; r < count; ++r) std::copy_n(rows + r * width, columns, part.out + r * part.out_step);
}

/// Calls one_panel(call, count) for each panel and kRowsPerCall rows at most. `all` names the rows, the bias (or none)
/// and the place of all results.
template <class Weights, class Call, class OnePanel>
HWY_INLINE void ByPanels(const Weights& weights, const Call& all, int64_t row_count, const OnePanel& one_panel) {
  using T = std::remove_pointer_t<decltype(all.out)>;
  const int64_t width = weights.width();
  Call call = all;
  for (int64_t p = 0; p < weights.count(); ++p) {
    call.panel = weights.panel(p);
    call.bias = all.bias == nullptr ? kNoBias<T> : all.bias + p * width;
    const int64_t columns = weights.columns() - p * width;
    for (int64_t first = 0; first < row_count; first += kRowsPerCall) {
      const int64_t count = HWY_MIN(kRowsPerCall, row_count - first);
      call.rows = all.rows + first;
      call.out = all.out + first * all.out_step + p * width;
      if (columns >= width)
        one_panel(call, count);
      else
        PartOfPanel(call, count, columns, width, one_panel);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
