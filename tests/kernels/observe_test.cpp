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
      for (const float sign : {1.0f, -1.0f}) {
        auto one_sided = x;
        for (float& value : one_sided) value = std::copysign(value, sign);
        const Extremes side = extremes(one_sided);
        REQUIRE(side.min == *std::min_element(one_sided.begin(), one_sided.end()));
        REQUIRE(side.max == *std::max_element(one_sided.begin(), one_sided.end()));
      }
      constexpr float kInf = std::numeric_limits<float>::infinity();
      const float nan = std::nanf("");
      for (const float bad : {kInf, -kInf, nan, std::copysign(nan, -1.0f)})
        for (size_t at : {size_t{0}, n / 2, n - 1}) {
          auto broken = x;
          broken[at] = bad;
          REQUIRE_FALSE(extremes(broken).finite);
        }
    });
  REQUIRE_FALSE(std::signbit(extremes(std::vector<float>(20, -0.0f)).min));
}

TEST_CASE("bins count every value, below zero too, by its weight") {
  for (size_t n : {1u, 5u, 511u, 512u, 513u, 3000u})
    on_every_target([&] {
      const auto x = numbers(n);
      const float per_width = 32;
      std::vector<uint64_t> counts(200, 1), wanted(200, 1);
      uint64_t zeros = 0;
      for (float value : x) {
        wanted[static_cast<size_t>(static_cast<int>(std::floor(value * per_width)) + 100)] += 3;
        zeros += value == 0 ? 1 : 0;
      }
      std::vector<uint16_t> by_four(4 * 200, 0);
      REQUIRE(count_bins_by_four(x, per_width, -100, by_four.data()) == zeros);
      add_up_bins(by_four.data(), 3, counts);
      REQUIRE(counts == wanted);
      REQUIRE(by_four == std::vector<uint16_t>(4 * 200, 0));
    });
}

TEST_CASE("bins far from zero are counted where they are") {
  for (int32_t first : {-(1 << 24), (1 << 24) - 64})
    on_every_target([&] {
      std::vector<float> x;
      for (int32_t k = 0; k < 64; ++k) x.push_back(static_cast<float>(first + k));
      std::vector<uint64_t> counts(64, 0);
      std::vector<uint16_t> by_four(4 * 64, 0);
      REQUIRE(count_bins_by_four(x, 1.0f, first, by_four.data()) == 0);
      add_up_bins(by_four.data(), 1, counts);
      REQUIRE(counts == std::vector<uint64_t>(64, 1));
    });
}

TEST_CASE(
    "sums by channel are taken in float over 64 rows, those left over in double, with equal bits on every "
    "target") {
  for (size_t channels : {1u, 2u, 7u, 16u, 19u, 25u}) {
    const size_t rows = 333;
    const auto x = numbers(rows * channels);
    std::vector<float> lows(channels, 1e30f), highs(channels, -1e30f);
    std::vector<double> sums(channels, 0.5), squares(channels, 0.25);
    auto l = lows, h = highs;
    auto s = sums, q = squares;
    const auto add = [&](size_t c, size_t first, size_t end, size_t step) {
      double sum = 0, square = 0;
      for (size_t start = first; start < end; start += 64 * step) {
        float part = 0, part_square = 0;
        for (size_t r = start; r < std::min(start + 64 * step, end); r += step) {
          const float v = x[r * channels + c];
          l[c] = std::min(l[c], v), h[c] = std::max(h[c], v);
          part += v, part_square += v * v;
        }
        sum += static_cast<double>(part), square += static_cast<double>(part_square);
      }
      s[c] += sum, q[c] += square;
    };
    const auto add_in_double = [&](size_t c, size_t first) {
      double sum = 0, square = 0;
      for (size_t r = first; r < rows; ++r) {
        const float v = x[r * channels + c];
        l[c] = std::min(l[c], v), h[c] = std::max(h[c], v);
        sum += static_cast<double>(v), square += static_cast<double>(v) * static_cast<double>(v);
      }
      s[c] += sum, q[c] += square;
    };
    for (size_t c = 0; c < channels; ++c) {
      for (size_t first = 0; channels < 8 && first < 8; ++first) add(c, first, rows / 8 * 8, 8);
      if (channels < 8)
        add_in_double(c, rows / 8 * 8);
      else if (c < channels / 8 * 8)
        add(c, 0, rows, 1);
      else
        add_in_double(c, 0);
    }
    on_every_target([&] {
      auto tl = lows, th = highs;
      auto ts = sums, tq = squares;
      const double total = channel_sums(x.data(), rows, channels, tl.data(), th.data(), ts.data(), tq.data());
      double grown = 0;
      for (size_t c = 0; c < channels; ++c) grown += q[c] - squares[c];
      REQUIRE(total == Approx(grown));
      REQUIRE(tl == l);
      REQUIRE(th == h);
      REQUIRE(ts == s);
      REQUIRE(tq == q);
    });
  }
}

TEST_CASE("channels whose squares no float holds are summed in double, the others as always") {
  const size_t rows = 40, channels = 11;
  const auto usual = numbers(rows * channels);
  for (const float factor : {1e30f, 1e-30f, 3.4e38f, 0.0f}) {
    auto x = usual;
    for (size_t c : {3u, 10u})
      for (size_t r = 0; r < rows; ++r) x[r * channels + c] = std::clamp(x[r * channels + c], -1.0f, 1.0f) * factor;
    on_every_target([&] {
      std::vector<float> lows(channels, 1e30f), highs(channels, -1e30f);
      std::vector<double> sums(channels, 0), squares(channels, 0), plain_sums = sums, plain_squares = sums;
      auto other_lows = lows, other_highs = highs;
      channel_sums(x.data(), rows, channels, lows.data(), highs.data(), sums.data(), squares.data());
      channel_sums(usual.data(), rows, channels, other_lows.data(), other_highs.data(), plain_sums.data(),
                   plain_squares.data());
      for (size_t c = 0; c < channels; ++c) {
        if (c != 3 && c != 10) {
          REQUIRE(sums[c] == plain_sums[c]);
          REQUIRE(squares[c] == plain_squares[c]);
          continue;
        }
        double sum = 0, square = 0;
        for (size_t r = 0; r < rows; ++r) {
          const double v = static_cast<double>(x[r * channels + c]);
          sum += v, square += v * v;
        }
        REQUIRE(sums[c] == sum);
        REQUIRE(squares[c] == square);
      }
    });
  }
}

TEST_CASE("a value that is not finite shows in the sum of all squares") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    for (const size_t place : {size_t{0}, size_t{160}, size_t{219}}) {
      const size_t rows = 20, channels = 11;
      auto x = numbers(rows * channels);
      x[place] = bad;
      on_every_target([&] {
        std::vector<float> lows(channels, 1e30f), highs(channels, -1e30f);
        std::vector<double> sums(channels, 0), squares(channels, 0);
        REQUIRE_FALSE(std::isfinite(
            channel_sums(x.data(), rows, channels, lows.data(), highs.data(), sums.data(), squares.data())));
      });
    }
}

TEST_CASE("values beyond a limit are found in order, and no others") {
  on_every_target([] {
    for (const size_t n : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000}}) {
      std::vector<float> values(n);
      std::vector<uint32_t> expected, places(n);
      for (size_t k = 0; k < n; ++k) {
        values[k] = k % 37 == 5 ? -9.0f : k % 53 == 7 ? 8.0f : static_cast<float>(k % 16) - 8;
        if (values[k] < -8 || values[k] > 8) expected.push_back(static_cast<uint32_t>(k));
      }
      places.resize(find_beyond(values, 8, places.data()));
      REQUIRE(places == expected);
    }
  });
}

TEST_CASE("counters add up, full ones too, by a weight") {
  constexpr uint32_t kWeight = (1 << 14) - 1;
  on_every_target([] {
    std::vector<uint16_t> by_four(4 * 11);
    std::vector<uint64_t> counts(11, 5), wanted(11, 5);
    for (size_t k = 0; k < by_four.size(); ++k) {
      by_four[k] = static_cast<uint16_t>(k < 8 ? 0 : k / 4 == 6 ? 65535 : k * k);
      wanted[k / 4] += uint64_t{kWeight} * by_four[k];
    }
    add_up_bins(by_four.data(), kWeight, counts);
    REQUIRE(counts == wanted);
    REQUIRE(by_four == std::vector<uint16_t>(4 * 11, 0));
  });
}
