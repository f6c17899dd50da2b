// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/sensitivity.h"

#include <limits>

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;
using namespace tersor::config;
using Values = std::vector<double>;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

MixedPrecisionQuantizationConfig weighting(MpDistanceWeighting method) {
  MixedPrecisionQuantizationConfig config;
  config.distance_weighting_method = method;
  return config;
}

Values cleaned(Values sensitivities, const MixedPrecisionQuantizationConfig& config) {
  std::vector<NodeSensitivity> nodes{{std::move(sensitivities), 0, 1}};
  clean_up(nodes, config);
  return nodes[0].candidates;
}

}  // namespace

TEST_CASE("the weights of interest points") {
  const Values distances{0.25, 0.75}, scores{3, 1};
  REQUIRE(weighted_distance(distances, {}, weighting(MpDistanceWeighting::kAvg)) == 0.5);
  REQUIRE(weighted_distance(distances, {}, weighting(MpDistanceWeighting::kLastLayer)) == 0.75);
  REQUIRE(weighted_distance(distances, scores, weighting(MpDistanceWeighting::kHessian)) == 0.375);
  const double exp = weighted_distance(distances, {}, weighting(MpDistanceWeighting::kExp));
  REQUIRE(exp > 0.5);
  REQUIRE(exp < 0.75);
}

TEST_CASE("where nothing weighs anything the distance is 0") {
  const Values zeros{0, 0}, some{1, 2};
  REQUIRE(weighted_distance(zeros, {}, weighting(MpDistanceWeighting::kExp)) == 0);
  REQUIRE(weighted_distance(some, zeros, weighting(MpDistanceWeighting::kHessian)) == 0);
}

TEST_CASE("the widest candidate becomes the least sensitive, in parts of one of the candidates where asked") {
  MixedPrecisionQuantizationConfig config;
  REQUIRE(cleaned({0.5, 0.25}, config) == Values{0.5, 0.5 + 1e-6});
  config.metric_epsilon.reset();
  REQUIRE(cleaned({0.5, 0.25}, config) == Values{0.5, 0.25});
  config.metric_normalization = MpMetricNormalization::kMinBit;
  REQUIRE(cleaned({0.5, 0.25}, config) == Values{2, 1});
  config.metric_normalization = MpMetricNormalization::kMaxBit;
  REQUIRE(cleaned({0.5, 0.25}, config) == Values{1, 0.5});
  REQUIRE(cleaned({0, 0.25}, config) == Values{0, 0.25});  // nothing to divide by
}

TEST_CASE("one sensitivity at the threshold divides all by the largest") {
  MixedPrecisionQuantizationConfig config;
  config.metric_epsilon.reset();
  config.metric_normalization_threshold = 8;
  std::vector<NodeSensitivity> nodes{{{1, 2}, 0, 1}, {{4, 8}, 0, 1}};
  clean_up(nodes, config);
  REQUIRE(nodes[0].candidates == Values{0.125, 0.25});
  REQUIRE(nodes[1].candidates == Values{0.5, 1});
}

TEST_CASE("settings have the documents' names and survive JSON") {
  MixedPrecisionQuantizationConfig config = weighting(MpDistanceWeighting::kLastLayer), read;
  config.metric_normalization = MpMetricNormalization::kMaxBit;
  const Json json = to_json(config);
  REQUIRE(json["distance_weighting_method"] == "LAST_LAYER");
  REQUIRE(json["metric_normalization"] == "MAXBIT");
  from_json(json, read, "c");
  REQUIRE(read == config);
}

TEST_CASE("what is no distance, score or sensitivity is refused") {
  const MixedPrecisionQuantizationConfig average, hessian = weighting(MpDistanceWeighting::kHessian);
  REQUIRE_THROWS_AS(weighted_distance({}, {}, average), Error);
  REQUIRE_THROWS_AS(weighted_distance(Values{kNan}, {}, average), Error);
  REQUIRE_THROWS_AS(weighted_distance(Values{-1}, {}, average), Error);
  REQUIRE_THROWS_AS(weighted_distance(Values{1}, {}, hessian), Error);
  REQUIRE_THROWS_AS(weighted_distance(Values{1}, Values{kNan}, hessian), Error);
  MixedPrecisionQuantizationConfig sigma;
  sigma.exp_distance_weighting_sigma = 0;
  REQUIRE_THROWS_AS(weighted_distance(Values{1}, {}, sigma), Error);
  REQUIRE_THROWS_AS(cleaned({kNan, 1}, average), Error);
  REQUIRE_THROWS_AS(cleaned({1}, average), Error);
}
