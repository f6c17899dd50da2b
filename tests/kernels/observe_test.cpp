// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/observe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

std::vector<float> numbers(size_t count) {
  std::vector<float> values(count);
  uint32_t state = 7;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = state % 5 == 0 ? 0.0f : static_cast<float>(static_cast<int32_t>(state)) * 1e-9f;
  }
  return values;
}

}  // namespace

TEST_CASE("extremes are exact, a zero has no sign, and what is not finite is seen wherever it stands") {
  for (size_t n : {1u, 3u, 16u, 17u, 100u})
    on_every_target([&] {
      auto x = numbers(n);
      const Extremes found = extremes(x);
      REQUIRE(found.min == *std::min_element(x.begin(), x.end()));
      REQUIRE(found.max == *std::max_element(x.begin(), x.end()));
      REQUIRE(found.finite);
      for (float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        for (size_t at : {size_t{0}, n / 2, n - 1}) {
          auto broken = x;
          broken[at] = bad;
          REQUIRE_FALSE(extremes(broken).finite);
        }
    });
  REQUIRE_FALSE(std::signbit(extremes(std::vector<float>(20, -0.0f)).min));
}

TEST_CASE("bins count every value once, below zero too, one by one and in turns") {
  for (size_t n : {1u, 5u, 511u, 512u, 513u, 3000u})
    on_every_target([&] {
      const auto x = numbers(n);
      const float per_width = 32;
      std::vector<uint64_t> counts(200, 1), in_turns(200, 1), wanted(200, 1);
      uint64_t zeros = 0;
      for (float value : x) {
        ++wanted[static_cast<size_t>(static_cast<int>(std::floor(value * per_width)) + 100)];
        zeros += value == 0 ? 1 : 0;
      }
      REQUIRE(count_bins(x, per_width, -100, counts.data()) == zeros);
      REQUIRE(counts == wanted);
      std::vector<uint32_t> fours(4 * 200, 0);
      REQUIRE(count_bins_in_fours(x, per_width, -100, fours.data()) == zeros);
      add_up_bins(fours.data(), in_turns);
      REQUIRE(in_turns == wanted);
      REQUIRE(fours == std::vector<uint32_t>(4 * 200, 0));
    });
}

TEST_CASE("bins far from zero are counted where they are") {
  for (int32_t first : {-(1 << 24), (1 << 24) - 64})
    on_every_target([&] {
      std::vector<float> x;
      for (int32_t k = 0; k < 64; ++k) x.push_back(static_cast<float>(first + k));
      std::vector<uint64_t> counts(64, 0);
      REQUIRE(count_bins(x, 1.0f, first, counts.data()) == 0);
      REQUIRE(counts == std::vector<uint64_t>(64, 1));
    });
}

TEST_CASE("sums by channel follow the rows, with equal bits on every target") {
  for (size_t channels : {1u, 2u, 7u, 16u, 19u}) {
    const size_t rows = 33;
    const auto x = numbers(rows * channels);
    std::vector<float> lows(channels, 1e30f), highs(channels, -1e30f);
    std::vector<double> sums(channels, 0.5), squares(channels, 0.25);
    auto l = lows, h = highs;
    auto s = sums, q = squares;
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < channels; ++c) {
        const float v = x[r * channels + c];
        l[c] = std::min(l[c], v), h[c] = std::max(h[c], v);
        s[c] += static_cast<double>(v), q[c] += static_cast<double>(v) * static_cast<double>(v);
      }
    on_every_target([&] {
      auto tl = lows, th = highs;
      auto ts = sums, tq = squares;
      channel_sums(x.data(), rows, channels, tl.data(), th.data(), ts.data(), tq.data());
      REQUIRE(tl == l);
      REQUIRE(th == h);
      REQUIRE(ts == s);
      REQUIRE(tq == q);
    });
  }
}
