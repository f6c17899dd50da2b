// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/nearest_planes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor;

TEST_CASE("planes carry each error over to the places before it, with the same bytes on every target") {
  constexpr size_t kLanes = kernels::kPlaneLanes;
  test::on_every_target([] {
    for (const size_t size : {size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{40}}) {
      std::vector<float> lower(size * size), values(size * kLanes), carried(size * kLanes);
      for (size_t k = 0; k < lower.size(); ++k) lower[k] = 0.4f * std::sin(1.3f * static_cast<float>(k));
      for (size_t k = 0; k < values.size(); ++k) values[k] = 9 * std::sin(0.7f * static_cast<float>(k));
      std::vector<float> expected = values;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        std::vector<float> own(size);
        for (size_t i = size; i-- > 0;) {
          float& value = expected[i * kLanes + lane];
          const float nearest = std::nearbyint(std::clamp(value + own[i], -8.0f, 7.0f)), error = value - nearest;
          for (size_t k = 0; k < i; ++k) {
            const volatile float product = error * lower[i * size + k];
            own[k] += product;
          }
          value = nearest;
        }
      }
      kernels::nearest_planes(lower.data(), size, -8, 7, carried.data(), values.data());
      REQUIRE(values == expected);
    }
  });
}

TEST_CASE(
    "planes in steps of their own are those of one step where all are alike, and count in each where they are not") {
  constexpr size_t kLanes = kernels::kPlaneLanes;
  test::on_every_target([] {
    for (const size_t size : {size_t{1}, size_t{8}, size_t{19}}) {
      std::vector<float> lower(size * size), values(size * kLanes), steps(size * kLanes), lows(size * kLanes),
          highs(size * kLanes);
      for (size_t k = 0; k < lower.size(); ++k) lower[k] = 0.4f * std::sin(1.3f * static_cast<float>(k));
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = 9 * std::sin(0.7f * static_cast<float>(k));
        steps[k] = (k % 3 == 0 ? -0.5f : 1.0f) * static_cast<float>(1 + k % 4);
        lows[k] = k % 5 == 0 ? -4.0f : -8.0f;
        highs[k] = k % 5 == 0 ? 11.0f : 7.0f;
      }
      std::vector<float> expected = values;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        std::vector<float> own(size);
        for (size_t i = size; i-- > 0;) {
          const size_t at = i * kLanes + lane;
          const float nearest = std::nearbyint(std::clamp((values[at] + own[i]) / steps[at], lows[at], highs[at]));
          const volatile float read = nearest * steps[at];
          const float error = values[at] - read;
          for (size_t k = 0; k < i; ++k) {
            const volatile float product = error * lower[i * size + k];
            own[k] += product;
          }
          expected[at] = nearest;
        }
      }
      std::vector<float> carried(size * kLanes);
      kernels::nearest_planes(lower.data(), size, {steps.data(), lows.data(), highs.data()}, carried.data(),
                              values.data());
      REQUIRE(values == expected);
    }
  });
}
