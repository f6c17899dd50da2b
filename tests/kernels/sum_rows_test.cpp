// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/sum_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor;

namespace {

std::vector<float> values_of(size_t count) {
  std::vector<float> values;
  for (size_t k = 0; k < count; ++k) values.push_back(8 * std::sin(0.37f * static_cast<float>(k)) + 1);
  return values;
}

}  // namespace

TEST_CASE("clamped sums of rows are those of each channel") {
  test::on_every_target([] {
    for (const size_t channels : {size_t{1}, size_t{5}, size_t{8}, size_t{19}})
      for (const size_t rows : {size_t{0}, size_t{1}, size_t{16}, size_t{37}}) {
        const std::vector<float> x = values_of(rows * channels);
        const float low = 0, high = 6;
        std::vector<double> clamped(channels, 1), inside(channels, 1);
        kernels::sum_clamped_rows(x.data(), rows, channels, low, high, clamped.data(), inside.data());
        for (size_t c = 0; c < channels; ++c) {
          double clamp = 1, count = 1;
          for (size_t r = 0; r < rows; ++r) {
            const double value = x[r * channels + c];
            clamp += std::clamp(value, 0.0, 6.0);
            count += value > low && value < high ? 1 : 0;
          }
          REQUIRE(std::fabs(clamped[c] - clamp) < 1e-6 * clamp);
          REQUIRE(inside[c] == count);
        }
      }
  });
}

TEST_CASE("sums of rows that no float holds, or of what is no number, stay what they are") {
  test::on_every_target([] {
    std::vector<float> x(16 * 8, 1e38f);
    x[8 * 3 + 1] = std::nanf("");
    std::vector<double> sums(8), counts(8);
    kernels::sum_clamped_rows(x.data(), 16, 8, 0, HUGE_VALF, sums.data(), counts.data());
    REQUIRE(sums[0] == 16 * static_cast<double>(1e38f));
    REQUIRE(std::isnan(sums[1]));
  });
}

TEST_CASE("terms are added to each row") {
  test::on_every_target([] {
    std::vector<float> x = values_of(3 * 19), terms = values_of(19), expected = x;
    for (size_t k = 0; k < x.size(); ++k) expected[k] += terms[k % 19];
    kernels::add_to_rows(x.data(), 3, 19, terms.data());
    REQUIRE(x == expected);
  });
}
