// SPDX-License-Identifier: Apache-2.0
#include "core/quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.h"
#include "tests/catch.h"

using tersor::quant::Histogram;

namespace {

Histogram of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.add(values);
  return histogram;
}

/// Values whose magnitudes lie far apart, with some zeros of both signs.
std::vector<float> spread_values(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const float mantissa = static_cast<float>(static_cast<int32_t>(random() % 2000001) - 1000000) / 1000000.0f;
    const int exponent = static_cast<int>(random() % 24) - 12;
    const uint32_t kind = random() % 10;
    values.push_back(kind == 0 ? 0.0f : kind == 1 ? -0.0f : std::ldexp(mantissa, exponent));
  }
  return values;
}

}  // namespace

TEST_CASE("a histogram does not depend on the order or the grouping of what it has seen") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::vector<float> values = spread_values(seed, 3000);
    const Histogram whole = of(values);
    std::mt19937 random(seed + 100);
    std::shuffle(values.begin(), values.end(), random);
    Histogram pieces, tail;
    for (size_t begin = 0; begin < values.size();) {
      const size_t end = std::min(values.size(), begin + 1 + random() % 700);
      const Histogram piece =
          of({values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
      (random() % 2 == 0 ? pieces : tail).merge(piece);
      begin = end;
    }
    tail.merge(pieces);
    REQUIRE(tail == whole);
  }
}

TEST_CASE("counts taken at a finer exponent give the same histogram") {
  const std::vector<float> values = spread_values(7, 2000);
  const Histogram whole = of(values);
  const int finer = whole.exponent() - 3;
  std::vector<uint64_t> counts;
  const int32_t first = Histogram::bin_of(whole.min(), finer);
  counts.resize(static_cast<size_t>(Histogram::bin_of(whole.max(), finer) - first) + 1);
  for (const float x : values) ++counts[static_cast<size_t>(Histogram::bin_of(x, finer) - first)];
  REQUIRE(Histogram::of_counts(whole.min(), whole.max(), finer, first, counts, whole.zeros()) == whole);
}

TEST_CASE("every value lies in the bin that counts it") {
  const std::vector<float> values = spread_values(3, 500);
  const Histogram histogram = of(values);
  uint64_t sum = 0;
  for (size_t i = 0; i < histogram.counts().size(); ++i) {
    const double low = histogram.lower(i), high = low + histogram.bin_width();
    const auto inside = std::count_if(values.begin(), values.end(), [&](float x) { return x >= low && x < high; });
    REQUIRE(histogram.counts()[i] == static_cast<uint64_t>(inside));
    sum += histogram.counts()[i];
  }
  REQUIRE(sum == values.size());
  REQUIRE(histogram.zeros() == static_cast<uint64_t>(std::count(values.begin(), values.end(), 0.0f)));
  REQUIRE(histogram.counts().size() <= Histogram::kMaxBins);
}

TEST_CASE("the exponent is the smallest that fits") {
  REQUIRE(Histogram::exponent_for(0.0f, 4095.0f) == 0);
  REQUIRE(Histogram::exponent_for(0.0f, 4096.0f) == 1);
  REQUIRE(Histogram::exponent_for(-1.0f, 4094.0f) == 0);
  REQUIRE(Histogram::exponent_for(-1.0f, 4095.0f) == 1);
  REQUIRE(Histogram::exponent_for(0.0f, 0.0f) == -120);
  // One value only: as fine as a float32 of that size needs.
  REQUIRE(Histogram::exponent_for(1.0f, 1.0f) == -23);
  REQUIRE(Histogram::exponent_for(-1.0f, -1.0f) == -24);
}

TEST_CASE("the widest and the narrowest ranges of float32 fit") {
  const float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  const Histogram histogram = of({-most, most, least, -least, 0.0f, 1.0f});
  REQUIRE(histogram.total() == 6);
  REQUIRE(histogram.min() == -most);
  REQUIRE(histogram.max() == most);
  REQUIRE(histogram.counts().size() <= Histogram::kMaxBins);
  REQUIRE(of({least}).total() == 1);
}

TEST_CASE("an empty histogram adds nothing") {
  Histogram histogram = of({1.0f, 2.0f});
  const Histogram before = histogram;
  histogram.merge(Histogram());
  REQUIRE(histogram == before);
  Histogram empty;
  empty.merge(before);
  REQUIRE(empty == before);
}

TEST_CASE("a value that is not finite is refused") {
  REQUIRE_THROWS_AS(of({1.0f, NAN}), tersor::Error);
  REQUIRE_THROWS_AS(of({HUGE_VALF}), tersor::Error);
}
