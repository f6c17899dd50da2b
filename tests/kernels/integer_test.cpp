// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/integer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

std::vector<int16_t> numbers(int64_t count, uint32_t state) {
  std::vector<int16_t> values(static_cast<size_t>(count));
  for (int16_t& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<int16_t>(static_cast<int32_t>(state >> 16) % 256 * (state % 3 == 0 ? -1 : 1));
  }
  return values;
}

/// The last is so large that sums wrap around.
std::vector<int32_t> biases(int64_t count) {
  std::vector<int32_t> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<int32_t>(k * 97 - 300));
  values.back() = 2147483647;
  return values;
}

/// Added to each column, modulo 2^32.
std::vector<int32_t> with_bias(std::vector<int32_t> sums, const std::vector<int32_t>& bias) {
  for (size_t k = 0; k < sums.size(); ++k)
    sums[k] = static_cast<int32_t>(static_cast<uint32_t>(sums[k]) + static_cast<uint32_t>(bias[k % bias.size()]));
  return sums;
}

}  // namespace

TEST_CASE("integer rows times integer panels are exact, whatever the sizes") {
  for (int64_t columns : {1, 3, 8, 17, 33, 64})
    for (int64_t depth : {1, 2, 5, 48})
      for (int64_t taps : {1, 3}) {
        const int64_t count = 21;
        const auto w = numbers(columns * taps * depth, 1), x = numbers((count + taps) * depth + 1, 2);
        std::vector<const int16_t*> pointers;
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t r = 0; r < count; ++r) pointers.push_back(x.data() + (r + tap) * depth);
        std::vector<int32_t> wanted;
        for (int64_t r = 0; r < count; ++r)
          for (int64_t c = 0; c < columns; ++c) {
            int32_t sum = 0;
            for (int64_t tap = 0; tap < taps; ++tap)
              for (int64_t d = 0; d < depth; ++d)
                sum += x[static_cast<size_t>((r + tap) * depth + d)] *
                       w[static_cast<size_t>((c * taps + tap) * depth + d)];
            wanted.push_back(sum);
          }
        CAPTURE(columns, depth, taps);
        const std::vector<int32_t> bias = biases(columns);
        on_every_target([&] {
          const IntegerPanels panels(columns, taps, depth, {w.data(), taps * depth, depth, 1});
          std::vector<int32_t> sums(wanted.size(), 7);
          multiply_integer_rows(panels, {pointers.data(), count}, nullptr, sums.data(), columns);
          REQUIRE(sums == wanted);
          multiply_integer_rows(panels, {pointers.data(), count}, bias.data(), sums.data(), columns);
          REQUIRE(sums == with_bias(wanted, bias));
        });
      }
}

TEST_CASE("depthwise windows are exact, whatever the number of channels, windows and taps") {
  for (int64_t channels : {1, 7, 8, 32, 37, 64})
    for (int64_t taps : {1, 5, 6}) {
      const int64_t width = 9, count = 6, step = 2 * channels;
      const auto x = numbers(7 * width * channels, 3), w = numbers(taps * channels, 4);
      std::vector<int64_t> offsets;
      for (int64_t t = 0; t < taps; ++t) offsets.push_back((t / 2 * width + t % 2 * 4) * channels);
      std::vector<int32_t> wanted;
      for (int64_t p = 0; p < count; ++p)
        for (int64_t c = 0; c < channels; ++c) {
          int32_t sum = 0;
          for (int64_t t = 0; t < taps; ++t)
            sum += x[static_cast<size_t>(p * step + offsets[static_cast<size_t>(t)] + c)] *
                   w[static_cast<size_t>(t * channels + c)];
          wanted.push_back(sum);
        }
      if (taps % 2 != 0) offsets.push_back(offsets.back());
      const auto pairs = pair_depthwise(w.data(), taps, channels);
      CAPTURE(channels, taps);
      const std::vector<int32_t> bias = biases(channels);
      on_every_target([&] {
        std::vector<int32_t> sums(wanted.size(), 100);
        sum_depthwise({x.data(), count, step, offsets}, pairs.data(), channels, nullptr, sums.data());
        REQUIRE(sums == wanted);
        sum_depthwise({x.data(), count, step, offsets}, pairs.data(), channels, bias.data(), sums.data());
        REQUIRE(sums == with_bias(wanted, bias));
      });
    }
}

TEST_CASE("requantizing rounds halves to even and saturates, for both kinds of 8 bits") {
  std::vector<int32_t> sums;
  for (int32_t k = -700; k <= 700; k += 7) sums.push_back(k);
  sums.insert(sums.end(), {2147483647, -2147483647, 5, -5, 3, 1, -1, 16777217});
  const int64_t rows = static_cast<int64_t>(sums.size()) / 11;
  sums.resize(static_cast<size_t>(rows * 11));
  std::vector<float> multipliers;
  for (int k = 0; k < 11; ++k) multipliers.push_back(k == 0 ? 0.5f : 0.013f * static_cast<float>(k));
  for (const auto& grid : {std::array<int32_t, 3>{0, 0, 255}, {17, 0, 255}, {-128, -128, 127}, {3, -128, 127}})
    for (const bool per_column : {false, true})
      on_every_target([&] {
        const int32_t zero_point = grid[0], least = grid[1], most = grid[2];
        std::vector<uint8_t> y(sums.size());
        requantize(sums.data(), rows, 11, {multipliers.data(), per_column, zero_point, least, most}, y.data());
        for (size_t k = 0; k < sums.size(); ++k) {
          const float exact = static_cast<float>(sums[k]) * multipliers[per_column ? k % 11 : 0];
          const float cut =
              std::min(std::max(exact, static_cast<float>(least - zero_point)), static_cast<float>(most - zero_point));
          const auto code = static_cast<int32_t>(std::nearbyint(cut)) + zero_point;
          REQUIRE(y[k] == static_cast<uint8_t>(code));
        }
      });
}

TEST_CASE("a product that is not a number becomes the lowest code, wherever it stands") {
  const std::vector<int32_t> sums(19, 0);
  const float infinite = std::numeric_limits<float>::infinity();
  on_every_target([&] {
    std::vector<uint8_t> y(sums.size(), 99);
    requantize(sums.data(), 1, 19, {&infinite, false, 17, 0, 255}, y.data());
    REQUIRE(y == std::vector<uint8_t>(sums.size(), 0));
  });
}
