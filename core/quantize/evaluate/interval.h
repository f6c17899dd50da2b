// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

#include "core/base/fields.h"

namespace tersor::evaluate {

/// Where the true share lies, with probability `level`.
struct Interval {
  double lower = 0;
  double upper = 1;
  double level = 0.95;

  static constexpr auto fields() {
    return std::make_tuple(field("lower", &Interval::lower, "Lower end, 0 to 1."),
                           field("upper", &Interval::upper, "Upper end, 0 to 1."),
                           field("level", &Interval::level, "Probability that the true value lies inside."));
  }
};

/// Wilson's score interval (1927) of a share of which `correct` of `count` were seen, at 95 %. The whole range for
/// count 0.
Interval wilson_interval(int64_t correct, int64_t count);

/// Decibels that a further sample is expected to have.
struct DecibelRange {
  double lower = 0;
  double upper = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("lower", &DecibelRange::lower, "Lower end in dB; one sample of twenty is below."),
                           field("upper", &DecibelRange::upper, "Upper end in dB; one sample of twenty is above."));
  }
  bool operator==(const DecibelRange&) const = default;
};

/// Between which a further number lies with a probability of 90 %, where all are of one normal distribution: mean and t
/// times the deviation times sqrt(1 + 1 / n), t being the 95 % point of Student's distribution of n - 1 degrees
/// (Abramowitz and Stegun 26.7.5). None of fewer than 4 numbers.
std::optional<DecibelRange> prediction_range(std::span<const double> decibels);

}  // namespace tersor::evaluate
