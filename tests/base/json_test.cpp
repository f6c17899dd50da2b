// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include "tests/catch.h"

using namespace tersor;

namespace {

std::string message_of(const char* text) {
  try {
    parse_json(text, "file", ErrorCode::kInvalidPlatform);
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidPlatform);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a field that an object has twice is a fault, wherever it is") {
  REQUIRE(parse_json(R"({"a": [{"b": 1}, {"b": 1}], "b": {"a": {}}})", "file").size() == 2);
  REQUIRE(message_of(R"({"a": 1, "b": 2, "a": 1})") == "file.a: The field \"a\" is there twice. Leave one of them.");
  const std::string all = message_of(R"({"list": [1, [2], {"x": 0}, {"x": {"y": 1, "z": [], "y": 2}, "x": 3}]})");
  INFO(all);
  REQUIRE(all.find("2 faults") != std::string::npos);
  REQUIRE(all.find("file.list[3].x.y: The field \"y\" is there twice.") != std::string::npos);
  REQUIRE(all.find("file.list[3].x: The field \"x\" is there twice.") != std::string::npos);
}

TEST_CASE("text that is no JSON is refused with line and column") {
  REQUIRE(message_of("{\n  \"a\": }").find("at line 2, column 8") != std::string::npos);
}

TEST_CASE("a number that no double can hold is refused") {
  REQUIRE(message_of("{\"a\": -1e400}").find("file: No double can hold '-1e400'. Its size") == 0);
  REQUIRE(parse_json("[1e308, 1e-400]", "file").size() == 2);
}
