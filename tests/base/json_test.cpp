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

TEST_CASE("nesting is bounded, and what is as deep as allowed is read") {
  const auto nested = [](const std::string& open, const std::string& close, size_t levels) {
    std::string text;
    for (size_t i = 0; i < levels; ++i) text += open;
    for (size_t i = 0; i < levels; ++i) text += close;
    return text;
  };
  REQUIRE(parse_json(nested("[", "]", 64), "file").size() == 1);
  for (const size_t levels : {size_t{65}, size_t{100000}, size_t{1000000}})
    for (const std::string& text : {nested("[", "]", levels), nested("{\"a\":[", "]}", levels),
                                    std::string(levels, '['), "{\"a\": " + nested("[", "]", levels) + "}"})
      REQUIRE(message_of(text.c_str()).find("file: Lists and objects are nested more than 64 deep.") == 0);
}

TEST_CASE("long texts are read and refused in little time, and messages stay short") {
  // Where time grew with the square of the length, these took minutes.
  constexpr int kMany = 200000;
  std::string keys = "{", twice = "{", list = "[";
  for (int i = 0; i < kMany; ++i) {
    const std::string comma = i == 0 ? "" : ",", number = std::to_string(i);
    keys += comma + "\"key" + number + "\": 1";
    twice += comma + "\"key" + std::to_string(i / 2) + "\": 1";
    list += comma + "{}";
  }
  keys += "}";
  twice += "}";
  list += "]";
  REQUIRE(parse_json(keys, "file").size() == kMany);
  REQUIRE(parse_json(list, "file").size() == kMany);
  const std::string all = message_of(twice.c_str());
  REQUIRE_THAT(all, Catch::Contains("more than 50 faults, of which these are the first:\nfile.key0: "));
  REQUIRE(all.size() < 10000);
  const std::string long_key(1000000, 'k');
  REQUIRE(message_of(("{\"" + long_key + "\": 1, \"" + long_key + "\": 2}").c_str()).size() < 400);
  REQUIRE(message_of(("[1e400" + std::string(1000000, '0') + "]").c_str()).size() < 400);
}
