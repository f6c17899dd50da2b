// SPDX-License-Identifier: Apache-2.0
#include "core/report/fastest_file.h"

#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"

namespace fastest_file_test {
using namespace tersor;
using namespace tersor::report;
using config::Preference;

TEST_CASE("words that ask for time are timed beside all integers, where samples tell their errors") {
  config::QuantizationConfig config;
  REQUIRE(words_to_time(config) == std::vector{Preference::kBalanced, Preference::kSpeed, Preference::kIntegers});
  config.prefer = Preference::kSpeed;
  REQUIRE(words_to_time(config) == std::vector{Preference::kSpeed, Preference::kBalanced, Preference::kIntegers});
  config.holdout = false;
  REQUIRE(words_to_time(config) == std::vector{Preference::kSpeed});
  for (const Preference word : {Preference::kSize, Preference::kAccuracy, Preference::kIntegers}) {
    config = {};
    config.prefer = word;
    REQUIRE(words_to_time(config) == std::vector{word});
  }
}

TEST_CASE("files are the same that differ in one digest alone") {
  std::vector<std::byte> file(200, std::byte{1}), other = file;
  const std::span all(file);
  REQUIRE(are_same_file(file, other));
  REQUIRE(!are_same_file(file, all.first(199)));
  other[20] = other[83] = std::byte{2};
  REQUIRE(are_same_file(file, other));
  other[84] = std::byte{2};
  REQUIRE(!are_same_file(file, other));
}

TEST_CASE("the fastest file that is as accurate is taken") {
  struct Case {
    Preference asked;
    std::vector<std::optional<double>> decibels;
    std::vector<double> milliseconds;
    size_t taken;
  };
  const Case cases[] = {
      {Preference::kBalanced, {40, 39, 38}, {2, 1.5, 1}, 2},
      {Preference::kBalanced, {40, 39, 38}, {2, 1, 1.5}, 1},
      {Preference::kBalanced, {40, 39, 29.9}, {2, 1.5, 1}, 1},  // 10 dB for nothing that was asked
      {Preference::kSpeed, {40, 39, 29.9}, {2, 1.5, 1}, 2},
      {Preference::kSpeed, {40, 39, 19.9}, {2, 1.5, 1}, 1},  // not usable
      {Preference::kSpeed, {12, 12, 11.9}, {2, 1.5, 1}, 1},
      {Preference::kBalanced, {25, 24.1, 23.9}, {2, 1.5, 1}, 1},
      {Preference::kBalanced, {40, 40, 40}, {1, 0.98, 1}, 0},  // what two runs of one file differ by
      {Preference::kBalanced, {40, 40, 40}, {1, 0.96, 0.97}, 1},
      {Preference::kBalanced, {40, std::nullopt, 38}, {2, 1, 1.5}, 2},
      {Preference::kBalanced, {std::nullopt}, {2}, 0},
  };
  for (const Case& one : cases) {
    const std::vector words = {one.asked, Preference::kSpeed, Preference::kIntegers};
    std::vector<FileToTime> files;
    for (size_t k = 0; k < one.decibels.size(); ++k) files.push_back({words[k], one.decibels[k]});
    RuntimeTimes times{"a runtime 1.0", 1, one.milliseconds};
    times.milliseconds.insert(times.milliseconds.begin(), 3);
    const FastestFile fastest = fastest_file(files, times);
    INFO(&one - cases);
    REQUIRE(fastest.taken == one.taken);
    REQUIRE(fastest.time.measured);
    REQUIRE(fastest.time.float_ms == 3);
    REQUIRE(fastest.time.quantized_ms == one.milliseconds[one.taken]);
    REQUIRE(fastest.time.timed.size() == files.size());
    for (size_t k = 0; k < files.size(); ++k) REQUIRE(fastest.time.timed[k].taken == (k == one.taken));
  }
}

TEST_CASE("what was measured is said as measured, with what else there was to choose") {
  const FileToTime files[] = {{Preference::kBalanced, 40}, {Preference::kIntegers, 20}};
  REQUIRE(fastest_file(files, {"onnxruntime 1.32.0", 1, {3, 1.5, 1.25}}).time.sentence ==
          "It runs 2.00 times as fast as the float model in onnxruntime 1.32.0 (measured, one thread): 1.5 ms in place "
          "of 3 ms. Of prefer, timed beside it: INTEGERS 1.25 ms.");
  REQUIRE(fastest_file(std::span(files).first(1), {"a runtime", 2, {3, 4}}).time.sentence ==
          "It runs 0.75 times as fast as the float model in a runtime (measured, 2 threads): 4 ms in place of 3 ms. "
          "There was no other file to choose.");
}

TEST_CASE("times that are none are refused") {
  const FileToTime files[] = {{Preference::kBalanced, 40}};
  for (const double time : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e300})
    REQUIRE_THROWS_WITH(fastest_file(files, {"a runtime", 1, {1, time}}), Catch::Contains("A time above 0"));
  REQUIRE_THROWS_WITH(fastest_file(files, {"a runtime", 1, {1}}), Catch::Contains("A time above 0"));
  for (const char* json : {"", "[]", R"({"runtime": "x", "threads": 1, "milliseconds": "fast"})"}) {
    INFO(json);
    try {
      read_times(json);
      FAIL();
    } catch (const Error& error) {
      REQUIRE(error.code == ErrorCode::kInvalidArgument);
    }
  }
  const RuntimeTimes times = read_times(R"({"runtime": "x 1", "threads": 2, "milliseconds": [1, 2.5]})");
  REQUIRE(times.runtime == "x 1");
  REQUIRE(times.threads == 2);
  REQUIRE(times.milliseconds == std::vector{1.0, 2.5});
}

}  // namespace fastest_file_test
