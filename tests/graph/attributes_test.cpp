// SPDX-License-Identifier: Apache-2.0
#include "core/graph/attributes.h"

#include "core/base/error.h"
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

TEST_CASE("an attribute of another type is refused, an absent one takes its default") {
  Node node;
  node.name = "pool";
  node.op_type = "MaxPool";
  node.attributes["pads"] = std::vector<float>{1, 1};
  node.attributes["ceil_mode"] = int64_t{1};
  REQUIRE(node.int_or("ceil_mode", 0) == 1);
  REQUIRE(node.int_or("storage_order", 7) == 7);
  REQUIRE(node.attribute<std::string>("auto_pad") == nullptr);
  REQUIRE(node.holds<int64_t>("ceil_mode"));
  REQUIRE_FALSE(node.holds<float>("ceil_mode"));
  REQUIRE_FALSE(node.holds<float>("storage_order"));
  try {
    node.ints_or("pads", {});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::kInvalidModel);
    CHECK(error.message ==
          "The attribute pads of MaxPool \"pool\" is a list of numbers; it must be a list of whole numbers.");
  }
  REQUIRE_THROWS_AS(node.float_or("ceil_mode", 0), Error);
  REQUIRE_THROWS_AS(node.string_or("ceil_mode", ""), Error);
}
