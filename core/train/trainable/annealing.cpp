// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/annealing.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace tersor::trainable {

namespace {

constexpr double kFirstBeta = 20, kLastBeta = 2;
constexpr double kUnchanged = 0.2;  // of all steps

void check(int64_t step, int64_t total_steps) {
  if (step < 0 || total_steps < 1)
    throw Error(ErrorCode::kInvalidArgument,
                "There is no step " + std::to_string(step) + " of " + std::to_string(total_steps) + ".");
}

double along_line(double from, double to, int64_t step, int64_t first, int64_t last) {
  if (step >= last) return to;
  const double part = static_cast<double>(std::max<int64_t>(step - first, 0)) / static_cast<double>(last - first);
  return from + (to - from) * part;
}

}  // namespace

double regularizer_beta(int64_t step, int64_t total_steps) {
  check(step, total_steps);
  const auto first = static_cast<int64_t>(kUnchanged * static_cast<double>(total_steps));
  return along_line(kFirstBeta, kLastBeta, step, first, total_steps);
}

double quantized_fraction(int64_t step, int64_t total_steps, const QFractionLinearAnnealingConfig& config) {
  check(step, total_steps);
  const double initial = config.initial_q_fraction, target = config.target_q_fraction;
  if (!(initial >= 0 && initial < target && target <= 1))
    throw Error(ErrorCode::kInvalidConfig, "The fraction grows from " + std::to_string(initial) + " to " +
                                               std::to_string(target) +
                                               " where 0 <= initial_q_fraction < target_q_fraction <= 1 is expected.");
  const int64_t end = config.end_step.value_or(total_steps);
  if (config.start_step < 0 || config.start_step >= end)
    throw Error(ErrorCode::kInvalidConfig, "The fraction grows from step " + std::to_string(config.start_step) +
                                               " to step " + std::to_string(end) +
                                               " where 0 <= start_step < end_step is expected.");
  return along_line(initial, target, step, config.start_step, end);
}

}  // namespace tersor::trainable
