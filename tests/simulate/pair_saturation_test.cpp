// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/pair_saturation.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/catch.h"

using namespace tersor;

TEST_CASE("pairs that saturate are counted by sum and taken out of it, as each pair by itself says") {
  std::mt19937 random(11);
  constexpr size_t kColumns = 9;
  for (const size_t rows : {size_t{1}, size_t{2}, size_t{27}, size_t{64}})
    for (const int32_t zero_point : {0, 131}) {
      std::vector<int8_t> weights(rows * kColumns);
      for (int8_t& weight : weights) weight = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
      std::vector<int64_t> places(rows);
      std::iota(places.begin(), places.end(), int64_t{3});
      const simulate::PairSaturation saturation(weights, rows);
      for (int round = 0; round < 200; ++round) {
        const auto count = static_cast<size_t>(round % 19 + 1), step = rows + 3, sums_step = kColumns + 2;
        // rows whose largest number is small, and rows that hold the largest
        const auto most = static_cast<int>(random() % 256);
        std::vector<int16_t> x(count * step);
        for (int16_t& value : x)
          value = static_cast<int16_t>(static_cast<int>(random() % 256) * most / 255 - zero_point);
        int64_t expected = 0;
        std::vector<int32_t> expected_sums(count * sums_step), sums(count * sums_step);
        for (size_t row = 0; row < count; ++row)
          for (size_t column = 0; column < kColumns; ++column) {
            bool any = false;
            for (size_t k = 0; k + 1 < rows; k += 2) {
              const int exact = (x[row * step + k + 3] + zero_point) * weights[column * rows + k] +
                                (x[row * step + k + 4] + zero_point) * weights[column * rows + k + 1];
              const int kept = std::clamp(exact, -32768, 32767);
              expected_sums[row * sums_step + column] += kept - exact;
              any = any || kept != exact;
            }
            expected += any ? 1 : 0;
          }
        const simulate::PairSaturation::Rows given{x.data(), static_cast<int64_t>(count), static_cast<int64_t>(step),
                                                   places.data(), zero_point};
        REQUIRE(saturation.apply(given, sums.data(), static_cast<int64_t>(sums_step)) == expected);
        REQUIRE(sums == expected_sums);
        REQUIRE(saturation.apply(given, nullptr, 0) == expected);
      }
    }
}

TEST_CASE("weights of unlike signs and small ones need no look at the numbers") {
  const std::vector<int8_t> weights = {127, -128, -128, 127, 64, 64, -64, -64};
  REQUIRE(simulate::PairSaturation(weights, 8).empty());
  REQUIRE(!simulate::PairSaturation(std::vector<int8_t>{64, 65}, 2).empty());
  REQUIRE(!simulate::PairSaturation(std::vector<int8_t>{-64, -65}, 2).empty());
}
