// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/layer_weights.h"

#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using Values = std::vector<double>;

TEST_CASE("weights are the logarithms of scores above the least") {
  const Values scores{1e-3, 0, 10, 1, 0};
  const Values offset = layer_weights(scores, LogScores::kOffset), scaled = layer_weights(scores, LogScores::kScaled);
  const Values expected{0, 0, 4, 3, 0};
  for (size_t l = 0; l < scores.size(); ++l) {
    REQUIRE(offset[l] == Approx(expected[l]).margin(1e-12));
    REQUIRE(scaled[l] == Approx(expected[l] / 4).margin(1e-12));
  }
}

TEST_CASE("scores that are alike say nothing, and the layers count the same") {
  for (const Values& scores : {Values{2, 2}, Values{0, 0}, Values{0, 3}})
    REQUIRE(layer_weights(scores, LogScores::kOffset) == Values{0.5, 0.5});
  REQUIRE(layer_weights(Values{7}, LogScores::kScaled) == Values{1});
}

TEST_CASE("each sample's scores are parts of its own sum") {
  const std::vector<Values> scores{{1, 3}, {300, 100}};
  const Values means = mean_hessian_scores(scores);
  REQUIRE(means[0] == Approx(0.5));
  REQUIRE(means[1] == Approx(0.5));
  REQUIRE(mean_hessian_scores(std::vector<Values>{{0, 0}}) == Values{0, 0});
}

TEST_CASE("what are no scores is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(layer_weights({}, LogScores::kOffset), Error);
  REQUIRE_THROWS_AS(layer_weights(Values{nan}, LogScores::kOffset), Error);
  REQUIRE_THROWS_AS(layer_weights(Values{-1}, LogScores::kOffset), Error);
  REQUIRE_THROWS_AS(mean_hessian_scores({}), Error);
  REQUIRE_THROWS_AS(mean_hessian_scores(std::vector<Values>{{}}), Error);
  REQUIRE_THROWS_AS(mean_hessian_scores(std::vector<Values>{{1, 2}, {1}}), Error);
}
