// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tersor::tune {

/// Adam (Kingma and Ba 2015) with its defaults: 0.9, 0.999, 1e-8.
class Adam {
 public:
  explicit Adam(size_t count = 0) : first_(count), second_(count) {}

  /// Moves values by `rate` units: one for all, or one for each value. `step` counts from 1.
  void step(int64_t step, double rate, std::span<const float> units, std::span<const float> gradient,
            std::span<float> values);
  std::vector<float>& first() { return first_; }
  std::vector<float>& second() { return second_; }
  const std::vector<float>& first() const { return first_; }
  const std::vector<float>& second() const { return second_; }

 private:
  std::vector<float> first_, second_;  // moments
};

/// Gradient descent with the momentum 0.9.
class Sgd {
 public:
  explicit Sgd(size_t count = 0) : velocity_(count) {}

  void step(double rate, std::span<const float> gradient, std::span<float> values);
  std::vector<float>& velocity() { return velocity_; }
  const std::vector<float>& velocity() const { return velocity_; }

 private:
  std::vector<float> velocity_;
};

}  // namespace tersor::tune
