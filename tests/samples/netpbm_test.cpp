// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/samples/format.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"

namespace netpbm_test {
using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

std::vector<int> pixels(std::string_view file) {
  const Picture picture = decode_picture(bytes_of(file));
  return {picture.pixels.begin(), picture.pixels.end()};
}

std::string refusal(std::string_view file) {
  return error_of([&] { decode_picture(bytes_of(file)); });
}

}  // namespace

TEST_CASE("Netpbm pictures of all six kinds are read") {
  REQUIRE(pixels("P1 3 1\n1 01") == std::vector<int>{0, 255, 0});
  REQUIRE(pixels("P2\n# a comment\n2 1 # another\n15\n0 15") == std::vector<int>{0, 255});
  REQUIRE(pixels("P3 1 1 255 1 2 3") == std::vector<int>{1, 2, 3});
  REQUIRE(pixels({"P4 9 2\n\x80\x80\x00\x00", 11}) ==
          std::vector<int>{0, 255, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255});
  REQUIRE(pixels("P5 2 1 255\n #") == std::vector<int>{32, 35});
  REQUIRE(pixels({"P5 2 1 65535\n\x80\x00\x00\x81", 17}) == std::vector<int>{128, 1});
  REQUIRE(pixels("P6 1 1 255\nabc") == std::vector<int>{97, 98, 99});
}

TEST_CASE("damaged Netpbm pictures are refused with a sentence") {
  REQUIRE_THAT(refusal("P5 2 1 255\n "), Contains("fewer pixels than its header says"));
  REQUIRE_THAT(refusal("P5 10000 10000 255\n "), Contains("fewer pixels than its header says"));
  REQUIRE_THAT(refusal("P5 100000 100000 255\n "), Contains("at most 100 million"));
  REQUIRE_THAT(refusal("P2 2 1 15 0 16"), Contains("its pixel is larger than 15"));
  REQUIRE_THAT(refusal({"P5 1 1 15\n\x10", 11}), Contains("larger than its largest value"));
  REQUIRE_THAT(refusal("P2 2 1 0 0 0"), Contains("largest value is 0"));
  REQUIRE_THAT(refusal("P2 2 x"), Contains("height is no number"));
  REQUIRE_THAT(refusal("P1 2 1 12"), Contains("neither 0 nor 1"));
  const std::string_view good = "P3 1 1 255 10 20 3";
  for (size_t length = 3; length < good.size() - 1; ++length) {
    INFO(length);
    REQUIRE_THROWS_AS(decode_netpbm(bytes_of(good.substr(0, length))), Error);
  }
}

}  // namespace netpbm_test
