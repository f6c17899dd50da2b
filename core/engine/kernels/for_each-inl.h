// SPDX-License-Identifier: Apache-2.0
// Compiled once per SIMD target: include inside the target's namespace only, through foreach_target.
#if defined(TERSOR_FOR_EACH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TERSOR_FOR_EACH_INL_H
#undef TERSOR_FOR_EACH_INL_H
#else
#define TERSOR_FOR_EACH_INL_H
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

/// Calls body(tag, k) for vectors of elements, then for single ones.
template <class Body>
HWY_INLINE void ForEach(size_t n, Body body) {
  const hwy::HWY_NAMESPACE::ScalableTag<float> d;
  const size_t lanes = hwy::HWY_NAMESPACE::Lanes(d);
  size_t k = 0;
  for (; k + 2 * lanes <= n; k += 2 * lanes) {
    body(d, k);
    body(d, k + lanes);
  }
  if (k + lanes <= n) body(d, k), k += lanes;
  const hwy::HWY_NAMESPACE::CappedTag<float, 1> one;
  for (; k < n; ++k) body(one, k);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#endif
