// SPDX-License-Identifier: Apache-2.0
#include "core/tune/optimizer.h"

#include <cmath>

namespace tersor::tune {

namespace {

/// base to a whole power, by squaring: the same on every target.
double whole_power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if ((exponent & 1) != 0) result *= base;
  return result;
}

}  // namespace

void Adam::step(int64_t step, double rate, std::span<const float> units, std::span<const float> gradient,
                std::span<float> values) {
  constexpr double kFirst = 0.9, kSecond = 0.999;
  constexpr float kEpsilon = 1e-8f;
  const auto factor =
      static_cast<float>(rate * std::sqrt(1 - whole_power(kSecond, step)) / (1 - whole_power(kFirst, step)));
  const bool one_unit = units.size() == 1;
  for (size_t k = 0; k < values.size(); ++k) {
    const float g = gradient[k];
    first_[k] = 0.9f * first_[k] + 0.1f * g;
    second_[k] = 0.999f * second_[k] + 0.001f * (g * g);
    values[k] -= factor * units[one_unit ? 0 : k] * first_[k] / (std::sqrt(second_[k]) + kEpsilon);
  }
}

void Sgd::step(double rate, std::span<const float> gradient, std::span<float> values) {
  const auto factor = static_cast<float>(rate);
  for (size_t k = 0; k < values.size(); ++k) {
    velocity_[k] = 0.9f * velocity_[k] + gradient[k];
    values[k] -= factor * velocity_[k];
  }
}

}  // namespace tersor::tune
