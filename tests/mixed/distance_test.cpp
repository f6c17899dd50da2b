// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/distance.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;
using namespace tersor::config;
using Values = std::vector<double>;

TEST_CASE("equal tensors have no distance, zeros included") {
  for (const Values& x : {Values{1, -2, 3}, Values{0, 0, 0}}) {
    REQUIRE(normalized_mse(x, x) == 0);
    REQUIRE(cosine_distance(x, x) == Approx(0).margin(1e-8));
  }
  REQUIRE(cosine_distance(Values{0, 0}, Values{0, 0}) == 0);
  const Values p{0.25, 0.75, 1, 0};
  REQUIRE(kl_divergence(p, p, 2) == 0);
}

TEST_CASE("distances do not depend on how large the numbers are") {
  const Values x{1, 2, 3}, y{1.1, 1.9, 3.2}, large{1000, 2000, 3000}, moved{1100, 1900, 3200};
  REQUIRE(normalized_mse(x, y) == Approx(normalized_mse(large, moved)).epsilon(1e-6));
  REQUIRE(cosine_distance(x, y) == Approx(cosine_distance(large, moved)).epsilon(1e-6));
}

TEST_CASE("the divergence is a mean over rows, and a q of 0 is finite") {
  const Values p{0.5, 0.5, 1, 0}, q{0.25, 0.75, 1, 0};
  REQUIRE(kl_divergence(p, q, 2) == Approx((0.5 * std::log(2) + 0.5 * std::log(2.0 / 3)) / 2));
  REQUIRE(kl_divergence(Values{1, 0}, Values{0, 1}, 2) == Approx(std::log(1e8)));
}

TEST_CASE("each operator has its distance") {
  REQUIRE(distance_for("Softmax") == MpDistance::kKlDivergence);
  REQUIRE(distance_for("Gemm") == MpDistance::kCosine);
  REQUIRE(distance_for("Conv") == MpDistance::kNormalizedMse);
}

TEST_CASE("what cannot be compared is refused") {
  const Values one{1}, two{1, 2}, nan{std::numeric_limits<double>::quiet_NaN()};
  REQUIRE_THROWS_AS(normalized_mse({}, {}), Error);
  REQUIRE_THROWS_AS(normalized_mse(one, two), Error);
  REQUIRE_THROWS_AS(cosine_distance(one, nan), Error);
  REQUIRE_THROWS_AS(kl_divergence(two, two, 0), Error);
  REQUIRE_THROWS_AS(kl_divergence(one, one, 2), Error);
  REQUIRE_THROWS_AS(kl_divergence(Values{-1}, one, 1), Error);
}

TEST_CASE("the distance of floats is that of their doubles, and what is not finite has one too") {
  std::vector<float> x, y;
  for (int k = 0; k < 103; ++k) x.push_back(static_cast<float>(k % 7) / 7), y.push_back(static_cast<float>(k % 5) / 7);
  const Values a(x.begin(), x.end()), b(y.begin(), y.end());
  REQUIRE(distance(MpDistance::kNormalizedMse, x, y, 103) == Approx(normalized_mse(a, b)));
  REQUIRE(distance(MpDistance::kCosine, x, y, 103) == Approx(cosine_distance(a, b)));
  REQUIRE(distance(MpDistance::kKlDivergence, x, y, 103) == Approx(kl_divergence(a, b, 103)));
  const std::vector<float> infinite(103, std::numeric_limits<float>::infinity()), negative(103, -1.0f);
  REQUIRE(distance(MpDistance::kCosine, x, infinite, 103) == 1);
  REQUIRE(distance(MpDistance::kCosine, infinite, x, 103) == 0);
  REQUIRE(distance(MpDistance::kKlDivergence, negative, x, 103) ==
          distance(MpDistance::kNormalizedMse, negative, x, 103));
}
