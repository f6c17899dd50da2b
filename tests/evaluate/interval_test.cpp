// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/interval.h"

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
