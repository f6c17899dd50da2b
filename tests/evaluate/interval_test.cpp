// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/interval.h"

#include <span>
#include <vector>

#include "tests/catch.h"

using tersor::evaluate::wilson_interval;

TEST_CASE("Wilson's interval has the values of its formula") {
  // Computed from the formula in Python's doubles.
  REQUIRE(wilson_interval(70, 100).lower == Approx(0.6041515).epsilon(1e-6));
  REQUIRE(wilson_interval(70, 100).upper == Approx(0.7810511).epsilon(1e-6));
  REQUIRE(wilson_interval(20, 20).lower == Approx(0.8388748).epsilon(1e-6));
  REQUIRE(wilson_interval(20, 20).upper == 1.0);
  REQUIRE(wilson_interval(0, 20).lower == 0.0);
  REQUIRE(wilson_interval(0, 20).upper == Approx(0.1611252).epsilon(1e-6));
}

TEST_CASE("nothing seen leaves everything possible") {
  REQUIRE(wilson_interval(0, 0).lower == 0);
  REQUIRE(wilson_interval(0, 0).upper == 1);
  REQUIRE(wilson_interval(0, 0).level == 0.95);
}

TEST_CASE("the range of a further number has Student's factor") {
  // t of 7 degrees at 95 %: 1.8946, the deviation 2.4495, the root of 1 + 1/8: 1.0607.
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto range = tersor::evaluate::prediction_range(numbers);
  REQUIRE(range);
  REQUIRE(range->lower == Approx(4.5 - 4.922).margin(0.01));
  REQUIRE(range->upper == Approx(4.5 + 4.922).margin(0.01));
  // 2.3534 of 3 degrees, by an expansion that is 0.05 short of it there.
  const std::vector<double> four = {-1, 1, -1, 1};
  REQUIRE(tersor::evaluate::prediction_range(four)->upper == Approx(2.3534 * 1.1547 * 1.1180).epsilon(0.03));
  REQUIRE_FALSE(tersor::evaluate::prediction_range(std::span(four).first(3)));
}
