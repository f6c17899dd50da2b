// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "tests/catch.h"

namespace {

enum class Colour { kRed, kBlue };

struct Inner {
  int count = 3;
  static constexpr auto fields() { return std::make_tuple(tersor::field("count", &Inner::count, "How many.")); }
};

struct Outer {
  bool flag = true;
  double ratio = 0.5;
  std::optional<double> limit;
  Colour colour = Colour::kRed;
  std::vector<Inner> inners;
  static constexpr auto fields() {
    return std::make_tuple(tersor::field("flag", &Outer::flag, ""), tersor::field("ratio", &Outer::ratio, ""),
                           tersor::field("limit", &Outer::limit, ""), tersor::field("colour", &Outer::colour, ""),
                           tersor::field("inners", &Outer::inners, ""));
  }
};

Outer read(const char* text) {
  Outer outer;
  tersor::from_json(tersor::parse_json(text, "test"), outer, "config");
  return outer;
}

std::string place_of_error(const char* text) {
  try {
    read(text);
  } catch (const tersor::Error& error) {
    return error.place + " | " + error.message + " | " + error.hint;
  }
  return "no error";
}

}  // namespace

template <>
struct tersor::EnumWords<Colour> {
  static constexpr const char* kind = "colour";
  static constexpr std::pair<Colour, std::string_view> words[] = {{Colour::kRed, "RED"}, {Colour::kBlue, "BLUE"}};
};

TEST_CASE("a struct survives the way through JSON") {
  const Outer outer = read(R"({"flag": false, "ratio": 2, "limit": 1.5, "colour": "BLUE", "inners": [{"count": 7}]})");
  REQUIRE(tersor::to_text(tersor::to_json(outer), false) ==
          R"({"flag":false,"ratio":2.0,"limit":1.5,"colour":"BLUE","inners":[{"count":7}]})");
}

TEST_CASE("members that the object does not name keep their defaults") {
  const Outer outer = read(R"({"limit": null})");
  REQUIRE(outer.flag);
  REQUIRE_FALSE(outer.limit.has_value());
}

TEST_CASE("faults name the path, the value and what is allowed") {
  REQUIRE(place_of_error(R"({"inners": [{}, {"cuont": 1}]})") ==
          "config.inners[1] | There is no field \"cuont\" here. | Did you mean \"count\"? The fields are: count.");
  REQUIRE(place_of_error(R"({"colour": "VIOLET"})") ==
          "config.colour | \"VIOLET\" is not a colour. | Use one of: RED, BLUE.");
  REQUIRE(place_of_error(R"({"flag": 1})") == "config.flag | Found 1 where true or false is expected. | ");
  REQUIRE(place_of_error(R"({"inners": [{"count": 1.5}]})") ==
          "config.inners[0].count | Found 1.5 where a whole number is expected. | ");
}

TEST_CASE("broken JSON names line and column") {
  REQUIRE(place_of_error("{\n \"flag\": tru }").find("line 2, column 13") != std::string::npos);
}
