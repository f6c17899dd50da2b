// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tersor::kernels {

/// How many rows of numbers nearest_planes() rounds side by side.
inline constexpr size_t kPlaneLanes = 16;

/// Rounds, from the last place to the first, what stands at each of `size` places of every lane, at place * kPlaneLanes
/// + lane, to the nearest whole number from `low` to `high` after the errors of places after it are carried over:
/// Babai's nearest plane. `lower`: size by size, row-major; the error at place i times lower[i][k] goes to place k < i.
/// Errors go to a place one after another, each product and sum rounded to float. `carried` has size * kPlaneLanes
/// floats, 0.
void nearest_planes(const float* lower, size_t size, float low, float high, float* carried, float* values);

/// What each place of every lane counts in, as `values` lie: the step, which may be below 0, and the lowest and the
/// highest whole number.
struct PlaneSteps {
  const float* step;
  const float* low;
  const float* high;
};

/// The same with steps of their own: `values` are in one unit, and become whole numbers of steps.
void nearest_planes(const float* lower, size_t size, const PlaneSteps& steps, float* carried, float* values);

}  // namespace tersor::kernels
