// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/similarity.h"

#include <cmath>

#include "tests/catch.h"

using namespace tersor::evaluate;
using Values = std::vector<double>;

TEST_CASE("similarity: error, ratio and cosine of two sequences, and of parts joined") {
  const Values x{1, 2, 3, -4}, y{1.5, 2, 2, -4};
  const Similarity sums = similarity(x, y);
  REQUIRE(sums.mse() == Approx(1.25 / 4));
  REQUIRE(sums.sqnr() == Approx(30 / 1.25));
  REQUIRE(*sqnr_db(sums.signal, sums.noise) == Approx(10 * std::log10(24)));
  REQUIRE(sums.max_error == 1);
  REQUIRE(sums.cosine() == Approx(27.5 / std::sqrt(30 * 26.25)));
  Similarity joined = similarity(Values{1, 2}, Values{1.5, 2});
  joined.merge(similarity(Values{3, -4}, Values{2, -4}));
  REQUIRE(joined.cosine() == Approx(sums.cosine()));
  REQUIRE(joined.max_error == 1);
}

TEST_CASE("equal sequences have no ratio in dB, and zeros no angle") {
  const Similarity equal = similarity(Values{1, 2}, Values{1, 2}), raised = similarity(Values{0, 0}, Values{0, 1});
  REQUIRE_FALSE(sqnr_db(equal.signal, equal.noise).has_value());
  REQUIRE(sqnr_db(raised.signal, raised.noise) == -200);
  REQUIRE(similarity(Values{0, 0}, Values{0, 0}).cosine() == 1);
  REQUIRE(similarity(Values{0, 0}, Values{0, 1}).cosine() == 0);
  REQUIRE(cosine_distance(Values{0, 0}, Values{0, 0}) == 0);
  REQUIRE(cosine_distance(Values{0, 0}, Values{0, 1}) == 0.5);
  REQUIRE(cosine_distance(Values{0, 1}, Values{0, 0}) == 0.5);
  REQUIRE(cosine_distance(Values{1, 0}, Values{-1, 0}) == Approx(1));
}

TEST_CASE("mean errors of any power, in parts of the reference's where normalized") {
  const Values x{1, -2}, y{0, 0};
  REQUIRE(mean_power_error(x, y, 1) == 1.5);
  REQUIRE(mean_power_error(x, y, 3) == 4.5);
  REQUIRE(mean_power_error(x, y, 2, true) == Approx(1));
  REQUIRE(mean_power_error(y, y, 2, true) == 0);
  REQUIRE(mean_power_error(y, x, 2, true) == Approx(2.5e8));  // of a reference of nothing: in parts of 1e-8
}
