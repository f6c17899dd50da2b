// SPDX-License-Identifier: Apache-2.0
#include "core/graph/attributes.h"

#include "core/graph/graph.h"
#include "tests/catch.h"

using namespace tersor;

TEST_CASE("attributes keep the order they came in") {
  Attributes attributes;
  attributes["strides"] = std::vector<int64_t>{2, 2};
  attributes["group"] = int64_t{1};
  attributes["alpha"] = 0.5f;
  attributes["group"] = int64_t{8};
  std::vector<std::string> keys;
  for (const auto& [key, value] : attributes) keys.push_back(key);
  REQUIRE(keys == std::vector<std::string>{"strides", "group", "alpha"});
  REQUIRE(std::get<int64_t>(attributes.at("group")) == 8);
  REQUIRE(attributes.erase("strides") == 1);
  REQUIRE(attributes.erase("strides") == 0);
  REQUIRE(attributes.size() == 2);
  REQUIRE_FALSE(attributes.contains("strides"));
  REQUIRE_FALSE(attributes.emplace("alpha", 1.0f).second);
  REQUIRE_THROWS_AS(attributes.at("beta"), std::out_of_range);
}

TEST_CASE("an attribute of another type reads as absent") {
  Node node;
  node.attributes["axis"] = int64_t{3};
  REQUIRE(node.int_or("axis", 1) == 3);
  REQUIRE(node.float_or("axis", 1.5f) == 1.5f);
  REQUIRE(node.attribute<std::string>("axis") == nullptr);
}
