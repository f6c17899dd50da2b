// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/runtime_softmax.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/kernels/runtime_functions.h"
#include "core/kernels/transcendental.h"

namespace tersor::simulate {

namespace {

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
  const float lowest = profile == Profile::kX64 ? -103.9720840454f : -88.3762626647949f;
  const auto powers_of = [&](std::span<float> powers) {
    kernels::runtime_exponential(x.data(), x.size(), most, lowest, fuses(profile), powers.data());
  };
  if (logarithm) {
    std::vector<float> powers(x.size());
    powers_of(powers);
    const auto sum = static_cast<float>(kernels::natural_logarithm(static_cast<double>(sum_of(profile, powers))));
    for (size_t k = 0; k < x.size(); ++k) y[k] = x[k] - most - sum;
    return;
  }
  powers_of(y);
  const float share = 1.0f / sum_of(profile, y);
  for (float& value : y) value *= share;
}

}  // namespace tersor::simulate
