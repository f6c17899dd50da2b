// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/soft_rounding.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using Values = std::vector<double>;

namespace {

constexpr quant::IntegerGrid kGrid{4, true, false};
constexpr quant::Step kStep{0.25, 0};

Values some_weights() {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> within(-2, 1.75);
  Values weights;
  for (int k = 0; k < 100; ++k) weights.push_back(within(random));
  return weights;
}

}  // namespace

TEST_CASE("training starts at the weights themselves, as far as the grid reaches") {
  Values weights = some_weights();
  for (const double w : {0.0, 0.25, -2.0, 1.75}) weights.push_back(w);
  const Values start = SoftRoundingQuantizer(weights, kStep, kGrid).training_output();
  for (size_t k = 0; k < weights.size(); ++k) REQUIRE(start[k] == Approx(weights[k]).margin(1e-12));
  const Values beyond = SoftRoundingQuantizer(Values{5, -5, 1.9}, kStep, kGrid).training_output();
  REQUIRE(beyond == Values{1.75, -2, 1.75});
}

TEST_CASE("the hard output at the start is the nearest value, and follows alpha after that") {
  const Values weights = some_weights();
  SoftRoundingQuantizer quantizer(weights, kStep, kGrid);
  const Values hard = quantizer.hard_output();
  for (size_t k = 0; k < weights.size(); ++k)
    REQUIRE(hard[k] == Approx(std::floor(weights[k] / 0.25 + 0.5) * 0.25).margin(1e-12));
  for (double& alpha : quantizer.alpha()) alpha = -9;
  for (size_t k = 0; k < weights.size(); ++k) REQUIRE(quantizer.hard_output()[k] <= weights[k]);
  REQUIRE(quantizer.training_output() == quantizer.hard_output());  // h is 0
}

TEST_CASE("a zero point moves the range") {
  const quant::IntegerGrid grid{4, false, false};
  const Values output = SoftRoundingQuantizer(Values{-5, 5, 0.1}, {0.25, 3}, grid).training_output();
  REQUIRE(output[0] == -0.75);
  REQUIRE(output[1] == 3);
  REQUIRE(output[2] == Approx(0.1));
}

TEST_CASE("the gradient is that of the training output") {
  const Values weights = some_weights();
  SoftRoundingQuantizer quantizer(weights, kStep, kGrid);
  const Values gradient = quantizer.gradient(Values(weights.size(), 1.0));
  constexpr double kSmall = 1e-6;
  SoftRoundingQuantizer more = quantizer, less = quantizer;
  for (double& alpha : more.alpha()) alpha += kSmall;
  for (double& alpha : less.alpha()) alpha -= kSmall;
  const Values high = more.training_output(), low = less.training_output();
  for (size_t k = 0; k < weights.size(); ++k)
    REQUIRE(gradient[k] == Approx((high[k] - low[k]) / (2 * kSmall)).epsilon(1e-6).margin(1e-9));
}

TEST_CASE("a weight on the grid still learns, and one whose rounding is decided no more") {
  SoftRoundingQuantizer quantizer(Values{0.25}, kStep, kGrid);
  REQUIRE(quantizer.gradient(Values{1})[0] > 0);
  quantizer.alpha()[0] = 20;
  REQUIRE(quantizer.gradient(Values{1})[0] == 0);
}

TEST_CASE("the regularizer is 0 where all is decided, and its gradient that of its values") {
  REQUIRE(rounding_regularizer(Values{0, 1, 1, 0}, 20) == 0);
  REQUIRE(rounding_regularizer(Values{0.5}, 2) == 1);
  constexpr double kSmall = 1e-6;
  for (const double beta : {20.0, 5.5, 2.0})
    for (const double h : {0.05, 0.3, 0.5, 0.8, 0.999}) {
      const double rise =
          (rounding_regularizer(Values{h + kSmall}, beta) - rounding_regularizer(Values{h - kSmall}, beta)) /
          (2 * kSmall);
      REQUIRE(rounding_regularizer_gradient(Values{h}, beta)[0] == Approx(rise).epsilon(1e-5).margin(1e-8));
    }
}

TEST_CASE("layers count in parts of the largest weight") {
  REQUIRE(weighted_regularizer(Values{4, 6}, Values{1, 2}) == 8);
  REQUIRE(weighted_regularizer(Values{4, 6}, Values{0, 0}) == 0);
}

TEST_CASE("what cannot be trained is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(SoftRoundingQuantizer(Values{nan}, kStep, kGrid), Error);
  REQUIRE_THROWS_AS(SoftRoundingQuantizer(Values{1}, {0, 0}, kGrid), Error);
  REQUIRE_THROWS_AS(SoftRoundingQuantizer(Values{1}, kStep, kGrid).gradient(Values{1, 2}), Error);
  REQUIRE(SoftRoundingQuantizer({}, kStep, kGrid).training_output().empty());
  REQUIRE_THROWS_AS(rounding_regularizer(Values{1.5}, 2), Error);
  REQUIRE_THROWS_AS(rounding_regularizer(Values{nan}, 2), Error);
  REQUIRE_THROWS_AS(rounding_regularizer(Values{0.5}, 0), Error);
  REQUIRE_THROWS_AS(weighted_regularizer({}, {}), Error);
  REQUIRE_THROWS_AS(weighted_regularizer(Values{1}, Values{1, 2}), Error);
  REQUIRE_THROWS_AS(weighted_regularizer(Values{1}, Values{-1}), Error);
}
