// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/runtime_softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/transcendental.h"
#include "core/simulate/arithmetic.h"

namespace tersor::simulate {

namespace {

/// How a build of the runtime computes exp of a number that is 0 or less.
struct Exponential {
  explicit Exponential(Profile profile)
      : fused(profile != Profile::kWasm), lowest(profile == Profile::kX64 ? -103.9720840454f : -88.3762626647949f) {}

  float operator()(float x) const {
    constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: rounds to an integer when added
    x = std::max(lowest, x);
    const float steps = step(x, 1.44269504088896341f, kNoFraction) - kNoFraction;  // of ln 2
    x = step(steps, -6.93145752e-1f, x);
    x = step(steps, -1.42860677e-6f, x);
    float p = 0x1.694000p-10f;
    for (float coefficient : {0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1.0f, 1.0f})
      p = step(p, x, coefficient);
    // -127 stands for 0 where the power of two is made of an exponent's bits alone.
    if (steps < -126 && lowest > -100) return 0;
    return static_cast<float>(std::ldexp(static_cast<double>(p), static_cast<int>(steps)));
  }

  float step(float a, float b, float c) const { return fused ? fma_once(a, b, c) : a * b + c; }

  bool fused;
  float lowest;
};

/// Adds in the order of `kLanes` lanes, each with every kLanes-th number.
template <size_t kLanes>
std::array<float, kLanes> lane_sums(std::span<const float> numbers) {
  std::array<float, kLanes> sums = {};
  for (size_t k = 0; k < numbers.size(); ++k) sums[k % kLanes] += numbers[k];
  return sums;
}

float sum_of(Profile profile, std::span<const float> numbers) {
  if (profile == Profile::kX64 || profile == Profile::kAvx2) {
    std::array<float, 8> lanes;
    if (profile == Profile::kX64) {
      const auto wide = lane_sums<16>(numbers);
      for (size_t k = 0; k < 8; ++k) lanes[k] = wide[k + 8] + wide[k];
    } else {
      lanes = lane_sums<8>(numbers);
    }
    const auto half = [&](size_t k) { return (lanes[k] + lanes[k + 1]) + (lanes[k + 2] + lanes[k + 3]); };
    return half(0) + half(4);
  }
  const size_t whole = numbers.size() / 4 * 4;
  const auto lanes = lane_sums<4>(numbers.first(whole));
  // ARM64 adds neighbours, WebAssembly lanes two apart.
  float sum = profile == Profile::kArm64 ? (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
                                         : (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (float number : numbers.subspan(whole)) sum += number;
  return sum;
}

}  // namespace

void runtime_softmax(Profile profile, std::span<const float> x, bool logarithm, std::span<float> y) {
  if (x.empty()) return;
  float most = std::numeric_limits<float>::lowest();
  for (float value : x) most = std::max(most, value);
  const Exponential exponential(profile);
  if (logarithm) {
    std::vector<float> powers(x.size());
    for (size_t k = 0; k < x.size(); ++k) powers[k] = exponential(x[k] - most);
    const auto sum = static_cast<float>(kernels::natural_logarithm(static_cast<double>(sum_of(profile, powers))));
    for (size_t k = 0; k < x.size(); ++k) y[k] = x[k] - most - sum;
    return;
  }
  for (size_t k = 0; k < x.size(); ++k) y[k] = exponential(x[k] - most);
  const float share = 1.0f / sum_of(profile, y);
  for (float& value : y) value *= share;
}

}  // namespace tersor::simulate
