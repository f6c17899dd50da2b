// SPDX-License-Identifier: Apache-2.0
// Numbers that change with the steps of training, along a line between two steps and not before or after them.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "core/base/fields.h"

namespace tersor::trainable {

/// The exponent of the rounding regularizer: 20 until a fifth of all steps (whole ones), then along a line to 2 at the
/// last. Error kInvalidArgument for fewer than 1 step in all, or a step below 0.
double regularizer_beta(int64_t step, int64_t total_steps);

/// How much of an activation is quantized: the fraction f of (1 - f) x + f q(x), by step; MCT's names.
struct QFractionLinearAnnealingConfig {
  double initial_q_fraction = 0;
  double target_q_fraction = 1;
  int64_t start_step = 0;
  std::optional<int64_t> end_step;

  static constexpr auto fields() {
    using C = QFractionLinearAnnealingConfig;
    return std::make_tuple(field("initial_q_fraction", &C::initial_q_fraction, "The fraction until start_step."),
                           field("target_q_fraction", &C::target_q_fraction, "The fraction from end_step on."),
                           field("start_step", &C::start_step, "The step from which on it grows."),
                           field("end_step", &C::end_step, "The step to which it grows; null: the number of all."));
  }
  bool operator==(const QFractionLinearAnnealingConfig&) const = default;
};

/// The fraction at a step. Error kInvalidConfig unless 0 <= initial < target <= 1 and start < end, kInvalidArgument as
/// above.
double quantized_fraction(int64_t step, int64_t total_steps, const QFractionLinearAnnealingConfig& config = {});

}  // namespace tersor::trainable
