// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/output_difference.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::evaluate;

namespace {

std::vector<Tensor> two(float a, float b) {
  return {Tensor::of<float>({1, 1}, {a}), Tensor::of<float>({1, 1}, {b})};
}

}  // namespace

TEST_CASE("decibels equal ten times the decimal logarithm") {
  for (double signal : {1e-280, 3.7e-9, 0.5, 0.70710678, 1.0, 1.9999, 2.0, 12345.678, 9e250})
    REQUIRE(decibels(signal, 3.0) == Approx(10 * std::log10(signal / 3.0)).epsilon(1e-12).margin(1e-12));
  REQUIRE(decibels(7, 7) == 0);
  REQUIRE(decibels(1000, 10) == Approx(20).epsilon(1e-14));
}

TEST_CASE("the ratio pools all samples, and equality is said as exact") {
  OutputDifferences differences({"a", "b"});
  differences.add(0, two(3, 5), two(3, 4));
  differences.add(1, two(4, 0), two(4, 0));
  const auto result = differences.result();
  REQUIRE(result[0].exact);
  REQUIRE_FALSE(result[0].sqnr_db);
  REQUIRE_FALSE(result[1].exact);
  REQUIRE(*result[1].sqnr_db == Approx(10 * std::log10(25.0)));
  REQUIRE(*differences.least_sqnr_db() == *result[1].sqnr_db);
}

TEST_CASE("all outputs equal have no ratio at all") {
  OutputDifferences differences({"a", "b"});
  differences.add(0, two(3, 5), two(3, 5));
  REQUIRE_FALSE(differences.least_sqnr_db());
}

TEST_CASE("any partition merges to the same bits") {
  const auto filled = [](size_t workers) {
    std::vector<OutputDifferences> parts(workers, OutputDifferences({"a", "b"}));
    for (int64_t i = 0; i < 100; ++i) {
      const float x = static_cast<float>(i * 37 % 101) * 0.01f + 1e-3f;
      parts[static_cast<size_t>(i * 13) % workers].add(i, two(x, -x), two(x * 1.01f, x));
    }
    while (parts.size() > 1) {
      parts[0].merge(std::move(parts.back()));
      parts.pop_back();
    }
    return *parts[0].result()[0].sqnr_db;
  };
  REQUIRE(filled(3) == filled(1));
  REQUIRE(filled(8) == filled(1));
}

TEST_CASE("infinities and NaN on one side only are counted, on both they are equal") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  OutputDifferences differences({"a", "b"});
  differences.add(0, two(infinity, nan), two(infinity, nan));
  REQUIRE(differences.result()[0].exact);
  REQUIRE(differences.result()[1].exact);
  differences.add(1, two(1, 1), two(nan, 1));
  REQUIRE(differences.result()[0].not_finite == 1);
  REQUIRE_FALSE(differences.result()[0].exact);
  REQUIRE_FALSE(differences.result()[0].sqnr_db);
}

TEST_CASE("an output of another size is a mismatch") {
  OutputDifferences differences({"a"});
  const std::vector<Tensor> one = {Tensor::of<float>({1}, {1})}, more = {Tensor::of<float>({2}, {1, 2})};
  REQUIRE_THROWS_AS(differences.add(0, one, more), Error);
}
