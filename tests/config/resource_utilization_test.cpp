// SPDX-License-Identifier: Apache-2.0
#include "core/config/resource_utilization.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/quantization_config.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::config;
using Catch::Matchers::Contains;

TEST_CASE("a target restricts what is finite, and is satisfied by no more of each") {
  const ResourceUtilization none;
  REQUIRE(none.restricted().empty());
  REQUIRE(none.is_satisfied_by(none));
  ResourceUtilization target;
  target.weights_memory = 10;
  target.bops = 0;
  REQUIRE(target.restricted() == std::vector<std::string>{"weights_memory", "bops"});
  REQUIRE(target.is_satisfied_by({10, 5, 15, 0}));
  REQUIRE_FALSE(target.is_satisfied_by({10.5, 5, 15, 0}));
  REQUIRE_FALSE(target.is_satisfied_by({10, 5, 15, 1}));
  REQUIRE_FALSE(target.is_satisfied_by(none));
  REQUIRE_FALSE(none.is_satisfied_by({std::nan(""), 0, 0, 0}));
}

TEST_CASE("no restriction is null in JSON, and survives") {
  ResourceUtilization target;
  target.total_memory = 12.5;
  const Json json = to_json(target);
  REQUIRE(to_text(json, false) ==
          R"({"weights_memory":null,"activation_memory":null,"total_memory":12.5,"bops":null})");
  ResourceUtilization read{1, 2, 3, 4};
  from_json(json, read, "target");
  REQUIRE(read == target);
  from_json(parse_json(R"({"bops": 7})", "target"), read, "target");
  REQUIRE(read.bops == 7);
  REQUIRE(read.total_memory == 12.5);
  const auto refused = [&](const char* text) { from_json(parse_json(text, "target"), read, "target"); };
  REQUIRE_THROWS_WITH(refused(R"({"weight_memory": 7})"), Contains("weights_memory"));
  REQUIRE_THROWS_WITH(refused(R"({"bops": -1})"), Contains("target.bops"));
  REQUIRE_THROWS_AS(refused("[1]"), Error);
}

TEST_CASE("the configuration of a search is read with the names of MCT, and its numbers are checked") {
  MixedPrecisionQuantizationConfig config;
  const auto read = [&](const char* text) {
    config = {};
    from_json(parse_json(text, "mixed"), config, "mixed");
  };
  read(R"({"num_of_images": 8, "compute_distance_fn": "COSINE", "norm_scores": true, "use_hessian_based_scores": false,
           "distance_weighting_method": "LAST_LAYER", "weights_n_bits": [8, 4]})");
  REQUIRE(config.num_of_images == 8);
  REQUIRE(config.distance_fn == MpDistance::kCosine);
  REQUIRE(config.distance_weighting_method == MpDistanceWeighting::kLastLayer);
  REQUIRE(config.weights_n_bits == std::vector<int64_t>{8, 4});
  REQUIRE_THROWS_WITH(read(R"({"num_of_images": 0})"), Contains("at least 1"));
  REQUIRE_THROWS_WITH(read(R"({"num_interest_points_factor": 1.5})"), Contains("up to 1"));
  REQUIRE_THROWS_WITH(read(R"({"weights_n_bits": [1]})"), Contains("2 to 16"));
  read(R"({"use_hessian_based_scores": true})");
  REQUIRE(config.distance_weighting_method == MpDistanceWeighting::kHessian);
  REQUIRE_THROWS_WITH(read(R"({"num_of_image": 8})"), Contains("num_of_images"));
}

TEST_CASE("budgets and the search's settings are fields of the configuration, and of its JSON") {
  const auto config = read_quantization_config(
      std::string_view(
          R"({"target_resource_utilization": {"weights_memory": 1000}, "mixed_precision_config": {"num_of_images": 4}})"),
      "config");
  REQUIRE(config.mixes_precisions());
  REQUIRE(config.target_resource_utilization->weights_memory == 1000);
  REQUIRE(read_quantization_config(std::string_view(to_text(to_json(config))), "config") == config);
  REQUIRE_FALSE(QuantizationConfig{}.mixes_precisions());
  REQUIRE_THROWS_WITH(
      read_quantization_config(std::string_view(R"({"target_resource_utilization": {"weight": 1}})"), "config"),
      Contains("config.target_resource_utilization"));
}
