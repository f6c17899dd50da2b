// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

}  // namespace tersor::evaluate
