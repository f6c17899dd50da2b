// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/annealing.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;

TEST_CASE("beta waits for a fifth of the steps, then falls to the last") {
  REQUIRE(regularizer_beta(0, 7) == 20);
  REQUIRE(regularizer_beta(1, 7) == 20);  // a fifth of 7, whole
  REQUIRE(regularizer_beta(4, 7) == 11);
  REQUIRE(regularizer_beta(7, 7) == 2);
  REQUIRE(regularizer_beta(0, 1) == 20);
  REQUIRE(regularizer_beta(1, 1) == 2);
}

TEST_CASE("the fraction grows between its steps") {
  QFractionLinearAnnealingConfig config{0.25, 0.75, 10, 20};
  REQUIRE(quantized_fraction(0, 100, config) == 0.25);
  REQUIRE(quantized_fraction(10, 100, config) == 0.25);
  REQUIRE(quantized_fraction(15, 100, config) == 0.5);
  REQUIRE(quantized_fraction(99, 100, config) == 0.75);
  config.end_step.reset();
  REQUIRE(quantized_fraction(55, 100, config) == 0.5);
  QFractionLinearAnnealingConfig read;
  from_json(to_json(config), read, "c");
  REQUIRE(read == config);
}

TEST_CASE("steps and fractions that cannot be are refused") {
  REQUIRE_THROWS_AS(regularizer_beta(0, 0), Error);
  REQUIRE_THROWS_AS(regularizer_beta(-1, 10), Error);
  for (const QFractionLinearAnnealingConfig& wrong : {QFractionLinearAnnealingConfig{0.5, 0.5, 0, {}},
                                                      {-0.1, 1, 0, {}},
                                                      {0, 1.1, 0, {}},
                                                      {0, 1, 10, {}},
                                                      {0, 1, 5, 5}})
    REQUIRE_THROWS_AS(quantized_fraction(0, 10, wrong), Error);
}
