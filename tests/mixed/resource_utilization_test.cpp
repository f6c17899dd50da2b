// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/resource_utilization.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;
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
