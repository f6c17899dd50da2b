// SPDX-License-Identifier: Apache-2.0
#include "core/framework/name_pattern.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using framework::NamePattern;

namespace {

bool matches(const char* pattern, const std::string& name) {
  return NamePattern(pattern, "p").matches(name);
}

std::string refused(const std::string& pattern) {
  try {
    NamePattern read(pattern, "config.ignored_scope.patterns[0]");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidConfig);
    REQUIRE(error.place == "config.ignored_scope.patterns[0]");
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("a pattern matches from the beginning of a name on") {
  REQUIRE(matches("/encoder", "/encoder/conv"));
  REQUIRE_FALSE(matches("encoder", "/encoder/conv"));
  REQUIRE(matches(".*conv", "/encoder/conv1"));
  REQUIRE_FALSE(matches(".*conv$", "/encoder/conv1"));
  REQUIRE(matches("^/encoder/conv\\d$", "/encoder/conv1"));
  REQUIRE(matches("", "anything"));
  REQUIRE_FALSE(matches("a^b", "ab"));
}

TEST_CASE("the notation of regular expressions") {
  struct {
    const char* pattern;
    std::vector<std::string> yes, no;
  } cases[] = {
      {"a.c$", {"abc", "a/c"}, {"ac", "a\nc", "abcd"}},
      {"[a-c_]+x$", {"ax", "a_cx"}, {"x", "dx"}},
      {"[^/]*$", {"", "abc"}, {"a/b"}},
      {"[]x-]$", {"]", "x", "-"}, {"a"}},
      {"(ab|cd)*$", {"", "ab", "abcdab"}, {"abc"}},
      {"(?:layers\\.(?:1|11))/", {"layers.1/x", "layers.11/x"}, {"layers.111/x", "layersx1/"}},
      {"a{2}$", {"aa"}, {"a", "aaa"}},
      {"a{2,}$", {"aa", "aaaaa"}, {"a"}},
      {"a{0,2}$", {"", "a", "aa"}, {"aaa"}},
      {"(a|b){1,2}c$", {"ac", "bbc"}, {"c", "abac"}},
      {"a{x}$", {"a{x}"}, {"a"}},
      {"a+?b*?$", {"a", "aab"}, {"b"}},
      {"\\w+\\s\\W\\S\\D$", {"a_1 /x-"}, {"a_1 /x1", "a_1xxx-"}},
      {"(a*)*b$", {"b", "aab"}, {"a"}},
      {"a|b|cd$", {"a", "bx", "cd"}, {"d", "cde"}},
      {"a(|b)c$", {"ac", "abc"}, {"abbc"}},
      {"\\(\\[\\\\$", {"([\\"}, {"(["}},
  };
  for (const auto& one : cases) {
    INFO(one.pattern);
    for (const std::string& name : one.yes) {
      INFO(name);
      REQUIRE(matches(one.pattern, name));
    }
    for (const std::string& name : one.no) {
      INFO(name);
      REQUIRE_FALSE(matches(one.pattern, name));
    }
  }
}

TEST_CASE("no pattern takes long") {
  REQUIRE_FALSE(matches("(a*)*(a*)*(a|a)*c", std::string(5000, 'a') + "b"));
}

TEST_CASE("what is no pattern is said, and what is not known") {
  for (const auto& [pattern, said] : std::vector<std::pair<std::string, std::string>>{
           {"(a", "a ( without its )"},
           {"a)", "a ) without its ("},
           {"[a", "a [ without its ]"},
           {"a\\", "ends with \\"},
           {"*a", "repeats nothing with *"},
           {"a|+", "repeats nothing with +"},
           {"[z-a]", "a range whose end is before its beginning"},
           {"a{3,2}", "a number of times whose end is before its beginning"},
           {"(?=a)", "looks ahead or behind"},
           {"(?P<n>a)", "names a group"},
           {"(a)\\1", "has \\1"},
           {"\\bword", "has \\b"},
           {"a{1001}", "more than 1000 times"},
           {"((a{1000}){1000}){1000}", "is too long"},
           {std::string(200, '(') + std::string(200, ')'), "too many groups within each other"}})
    REQUIRE_THAT(refused(pattern), Catch::Contains("\"" + pattern + "\"") && Catch::Contains(said));
}
