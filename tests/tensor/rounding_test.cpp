// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/rounding.h"

#include "tests/catch.h"

TEST_CASE("rounding goes to the nearest integer and ties go to even") {
  REQUIRE(tersor::round_half_even(0.5f) == 0.0f);
  REQUIRE(tersor::round_half_even(1.5f) == 2.0f);
  REQUIRE(tersor::round_half_even(-2.5f) == -2.0f);
  REQUIRE(tersor::round_half_even(2.5000002f) == 3.0f);
  REQUIRE(tersor::round_half_even(-3.5) == -4.0);
  REQUIRE(tersor::round_half_even(8388609.0f) == 8388609.0f);
}

TEST_CASE("rounding by two additions is the same rounding") {
  for (double x = -1000; x < 1000; x += 0.0625) REQUIRE(tersor::round_half_even_small(x) == tersor::round_half_even(x));
  REQUIRE(tersor::round_half_even_small(1125899906842623.5) == tersor::round_half_even(1125899906842623.5));
}
