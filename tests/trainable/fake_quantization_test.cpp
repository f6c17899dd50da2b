// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/fake_quantization.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "tests/catch.h"

using namespace tersor;
using trainable::FakeQuantization;

TEST_CASE("0 stays exact, values stay within the range, and twice is once") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> part(0, 1);
  for (int k = 0; k < 200; ++k) {
    const quant::Range range{-3 * part(random), 3 * part(random) + 1e-3};
    const FakeQuantization quantizer(range, 2 + k % 7, k % 2 == 0);
    REQUIRE(quantizer(0) == Approx(0).margin(1e-12));
    REQUIRE(quantizer.nudged().high - quantizer.nudged().low == Approx(range.high - range.low));
    const double x = 8 * part(random) - 4, y = quantizer(x);
    REQUIRE(y >= quantizer.nudged().low - 1e-12);
    REQUIRE(y <= quantizer.nudged().high + 1e-12);
    REQUIRE(quantizer(y) == Approx(y).margin(1e-12));
  }
}

TEST_CASE("the grid is that of UNIFORM where nothing is half-way") {
  const quant::Range range{-0.3, 1};
  const FakeQuantization quantizer(range, 8, false);
  const auto params =
      quant::params_of_ranges(quant::QuantizationMethod::kUniform, {8, false, false}, std::span(&range, 1));
  REQUIRE(quantizer.scale() == Approx(params.scale[0]));
  REQUIRE(quantizer.nudged().low == Approx(params.representable().low));
  REQUIRE(quantizer.nudged().high == Approx(params.representable().high));
}

TEST_CASE("half-way goes up") {
  const FakeQuantization quantizer({-2, 5}, 3, false);  // a step of 1
  REQUIRE(quantizer(0.5) == 1);
  REQUIRE(quantizer(1.5) == 2);
  REQUIRE(quantizer(-0.5) == 0);
}

TEST_CASE("of a range of nothing all is 0") {
  const FakeQuantization quantizer({0, 0}, 8, true);
  REQUIRE(quantizer(3) == 0);
  REQUIRE(std::isnan(quantizer(std::nan(""))));
}

TEST_CASE("ranges and bits that cannot be are refused") {
  REQUIRE_THROWS_AS(FakeQuantization({1, 2}, 8, false), Error);
  REQUIRE_THROWS_AS(FakeQuantization({-2, -1}, 8, false), Error);
  REQUIRE_THROWS_AS(FakeQuantization({std::nan(""), 1}, 8, false), Error);
  REQUIRE_THROWS_AS(FakeQuantization({0, std::numeric_limits<double>::infinity()}, 8, false), Error);
  REQUIRE_THROWS_AS(FakeQuantization({0, 1}, 1, false), Error);
}
