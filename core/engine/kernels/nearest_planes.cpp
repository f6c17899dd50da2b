// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/nearest_planes.h"

#include <cstring>

#include "core/kernels/loop_constants.h"
#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/nearest_planes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

// As many lanes as let the errors of all places of a step stay in registers.
#if HWY_TARGET <= HWY_AVX3
constexpr size_t kLanes = 16;
#elif HWY_TARGET <= HWY_AVX2
constexpr size_t kLanes = 8;
#else
constexpr size_t kLanes = 4;
#endif
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
constexpr size_t kPlaces = 8;

HWY_INLINE Lanes Load(const float* x) {
  Lanes lanes;
  std::memcpy(&lanes, x, sizeof lanes);
  return lanes;
}

HWY_INLINE void Store(const Lanes& lanes, float* x) {
  std::memcpy(x, &lanes, sizeof lanes);
}

/// Of some lanes the places from `first` up to `end`; gives their errors, the last one's first.
HWY_INLINE void RoundPlaces(const float* HWY_RESTRICT lower, size_t size, size_t first, size_t end, float low,
                            float high, float* HWY_RESTRICT carried, float* HWY_RESTRICT values,
                            Lanes* HWY_RESTRICT errors) {
  for (size_t i = end; i-- > first;) {
    const Lanes value = Load(values + i * kPlaneLanes);
    Lanes nearest = value + Load(carried + i * kPlaneLanes);
    nearest = nearest < low ? low - Lanes{} : nearest;
    nearest = nearest > high ? high - Lanes{} : nearest;
    nearest = (nearest + kNoFraction) - kNoFraction;
    const Lanes error = value - nearest;
    Store(nearest, values + i * kPlaneLanes);
    errors[end - 1 - i] = error;
    for (size_t k = first; k < i; ++k)
      Store(Load(carried + k * kPlaneLanes) + error * lower[i * size + k], carried + k * kPlaneLanes);
  }
}

void NearestPlanes(const float* HWY_RESTRICT lower, size_t size, float low, float high, float* HWY_RESTRICT carried,
                   float* HWY_RESTRICT values) {
  for (size_t lane = 0; lane < kPlaneLanes; lane += kLanes, carried += kLanes, values += kLanes) {
    Lanes errors[kPlaces] = {};
    size_t end = size;
    for (; end > kPlaces; end -= kPlaces) {
      const size_t first = end - kPlaces;
      RoundPlaces(lower, size, first, end, low, high, carried, values, errors);
      const float* const last = lower + (end - 1) * size;
      for (size_t k = 0; k < first; ++k) {
        Lanes sum = Load(carried + k * kPlaneLanes);
        TERSOR_UNROLL for (size_t e = 0; e < kPlaces; ++e) sum += errors[e] * *(last - e * size + k);
        Store(sum, carried + k * kPlaneLanes);
      }
    }
    RoundPlaces(lower, size, 0, end, low, high, carried, values, errors);
  }
}

/// As RoundPlaces(), in steps of each place and lane.
HWY_INLINE void RoundSteps(const float* HWY_RESTRICT lower, size_t size, size_t first, size_t end,
                           const PlaneSteps& steps, float* HWY_RESTRICT carried, float* HWY_RESTRICT values,
                           Lanes* HWY_RESTRICT errors) {
  for (size_t i = end; i-- > first;) {
    const size_t at = i * kPlaneLanes;
    const Lanes value = Load(values + at), step = Load(steps.step + at), low = Load(steps.low + at),
                high = Load(steps.high + at);
    Lanes nearest = (value + Load(carried + at)) / step;
    nearest = nearest < low ? low : nearest;
    nearest = nearest > high ? high : nearest;
    nearest = (nearest + kNoFraction) - kNoFraction;
    const Lanes error = value - nearest * step;
    Store(nearest, values + at);
    errors[end - 1 - i] = error;
    for (size_t k = first; k < i; ++k)
      Store(Load(carried + k * kPlaneLanes) + error * lower[i * size + k], carried + k * kPlaneLanes);
  }
}

void NearestPlanesInSteps(const float* HWY_RESTRICT lower, size_t size, const PlaneSteps& given,
                          float* HWY_RESTRICT carried, float* HWY_RESTRICT values) {
  PlaneSteps steps = given;
  for (size_t lane = 0; lane < kPlaneLanes; lane += kLanes) {
    Lanes errors[kPlaces] = {};
    size_t end = size;
    for (; end > kPlaces; end -= kPlaces) {
      const size_t first = end - kPlaces;
      RoundSteps(lower, size, first, end, steps, carried, values, errors);
      const float* const last = lower + (end - 1) * size;
      for (size_t k = 0; k < first; ++k) {
        Lanes sum = Load(carried + k * kPlaneLanes);
        TERSOR_UNROLL for (size_t e = 0; e < kPlaces; ++e) sum += errors[e] * *(last - e * size + k);
        Store(sum, carried + k * kPlaneLanes);
      }
    }
    RoundSteps(lower, size, 0, end, steps, carried, values, errors);
    carried += kLanes, values += kLanes;
    steps.step += kLanes, steps.low += kLanes, steps.high += kLanes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(NearestPlanes);
HWY_EXPORT(NearestPlanesInSteps);

void nearest_planes(const float* lower, size_t size, float low, float high, float* carried, float* values) {
  HWY_DYNAMIC_DISPATCH(NearestPlanes)(lower, size, low, high, carried, values);
}

void nearest_planes(const float* lower, size_t size, const PlaneSteps& steps, float* carried, float* values) {
  HWY_DYNAMIC_DISPATCH(NearestPlanesInSteps)(lower, size, steps, carried, values);
}

}  // namespace tersor::kernels
#endif
