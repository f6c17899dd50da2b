// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/exact_sum.h"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/catch.h"

using tersor::calibrate::ExactSum;
using tersor::calibrate::ExactSums;

namespace {

std::vector<double> wild_numbers(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> numbers;
  for (int k = 0; k < count; ++k) {
    const int exponent = static_cast<int>(random() % 300) - 150;
    const double mantissa = static_cast<double>(random()) * 4294967296.0 + random();
    numbers.push_back(std::ldexp((random() & 1) != 0 ? mantissa : -mantissa, exponent - 64));
  }
  return numbers;
}

ExactSum sum_of(const std::vector<double>& numbers) {
  ExactSum sum;
  for (double x : numbers) sum.add(x);
  return sum;
}

}  // namespace

TEST_CASE("an exact sum keeps what doubles lose") {
  REQUIRE(sum_of({1e30, 1, -1e30}).value() == 1);
  REQUIRE(sum_of({std::ldexp(1.0, -149), 3e38, -3e38}).value() == std::ldexp(1.0, -149));
  REQUIRE(sum_of({-0.5, -0.25}).value() == -0.75);
  REQUIRE(sum_of({}).value() == 0);
  for (int exponent = -149; exponent < 127; ++exponent)
    REQUIRE(sum_of({-std::ldexp(1.0, exponent)}).value() == -std::ldexp(1.0, exponent));
}

TEST_CASE("an exact sum does not depend on order or grouping") {
  std::vector<double> numbers = wild_numbers(2000, 7);
  const ExactSum forward = sum_of(numbers);
  ExactSum backward, grouped;
  for (size_t k = numbers.size(); k-- > 0;) backward.add(numbers[k]);
  for (size_t begin = 0; begin < numbers.size(); begin += 37) {
    ExactSum part;
    for (size_t k = begin; k < std::min(begin + 37, numbers.size()); ++k) part.add(numbers[k]);
    grouped.add(part);
  }
  REQUIRE(forward == backward);
  REQUIRE(forward == grouped);
}

TEST_CASE("a number and its opposite cancel to nothing") {
  for (double x : wild_numbers(200, 11)) {
    ExactSum sum;
    sum.add(x);
    sum.add(-x);
    REQUIRE(sum == ExactSum());
  }
}

TEST_CASE("what is below the unit is rounded half to even, each addend by itself") {
  const double unit = std::ldexp(1.0, ExactSum::kUnitExponent);
  REQUIRE(sum_of({unit / 2}) == ExactSum());
  REQUIRE(sum_of({unit * 1.5}) == sum_of({unit * 2}));
  REQUIRE(sum_of({unit * 0.75}) == sum_of({unit}));
  REQUIRE(sum_of({unit * 2.5}) == sum_of({unit * 2}));
  REQUIRE(sum_of({std::ldexp(1.0, -1060)}) == ExactSum());
}

TEST_CASE("sums that grow together are those of each by itself, whatever its addends") {
  std::mt19937 random(5);
  // Alike, of all sizes, of two that cancel, below the unit, and nothing.
  const std::vector<std::function<double(int)>> kinds{
      [&](int) { return std::ldexp(static_cast<double>(random()), -20); },
      [&](int) { return std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 300) - 150); },
      [&](int k) { return k % 2 == 0 ? 1e30 / 3 : -1e30 / 3 + std::ldexp(1.0, -k); },
      [&](int) { return std::ldexp(static_cast<double>(random()), -180); }, [](int) { return 0.0; }};
  ExactSums together(kinds.size());
  std::vector<ExactSum> wanted(kinds.size());
  for (int k = 0; k < 200; ++k) {
    std::vector<double> addends;
    for (const auto& kind : kinds) addends.push_back(kind(k));
    together.add(addends);
    for (size_t c = 0; c < wanted.size(); ++c) wanted[c].add(addends[c]);
  }
  for (size_t c = 0; c < wanted.size(); ++c) CHECK(together.sum(c) == wanted[c]);
}
