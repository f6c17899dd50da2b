// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/integer.h"

#include <algorithm>
#include <array>
#include <cmath>
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
        on_every_target([&] {
          const IntegerPanels panels(columns, taps, depth, {w.data(), taps * depth, depth, 1});
          std::vector<int32_t> sums(wanted.size(), 7);
          multiply_integer_rows(panels, {pointers.data(), count}, sums.data(), columns);
          REQUIRE(sums == wanted);
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
      on_every_target([&] {
        std::vector<int32_t> sums(wanted.size(), 100);
        sum_depthwise({x.data(), count, step, offsets}, pairs.data(), channels, sums.data());
        REQUIRE(sums == wanted);
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
  const std::vector<int32_t> bias = {0, 3, -3, 100, -100, 2147483647, 1, 7, -7, 50, 2};
  for (const auto& grid : {std::array<int32_t, 3>{0, 0, 255}, {17, 0, 255}, {-128, -128, 127}, {3, -128, 127}})
    for (int form = 0; form < 4; ++form)
      on_every_target([&] {
        const bool per_column = form % 2 != 0, has_bias = form / 2 != 0;
        const int32_t zero_point = grid[0], least = grid[1], most = grid[2];
        std::vector<uint8_t> y(sums.size());
        requantize(sums.data(), rows, 11,
                   {multipliers.data(), per_column, zero_point, least, most, has_bias ? bias.data() : nullptr},
                   y.data());
        for (size_t k = 0; k < sums.size(); ++k) {
          const auto sum =
              static_cast<int32_t>(static_cast<uint32_t>(sums[k]) + static_cast<uint32_t>(has_bias ? bias[k % 11] : 0));
          const float exact = static_cast<float>(sum) * multipliers[per_column ? k % 11 : 0];
          const float cut =
              std::min(std::max(exact, static_cast<float>(least - zero_point)), static_cast<float>(most - zero_point));
          const auto code = static_cast<int32_t>(std::nearbyint(cut)) + zero_point;
          REQUIRE(y[k] == static_cast<uint8_t>(code));
        }
      });
}
