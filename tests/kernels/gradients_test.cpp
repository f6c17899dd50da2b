// SPDX-License-Identifier: Apache-2.0
// Against the same in double, written plainly.
#include "core/kernels/gradients.h"

#include <cmath>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor;

namespace {

constexpr size_t kSizes[] = {0, 1, 7, 8, 128, 141};

std::vector<float> values_of(size_t count, float pace) {
  std::vector<float> values;
  for (size_t k = 0; k < count; ++k) values.push_back(9 * std::sin(pace * static_cast<float>(k)) + 0.3f);
  return values;
}

}  // namespace

TEST_CASE("quantizers of activations and their gradients, in place too") {
  test::on_every_target([] {
    for (const size_t n : kSizes)
      for (const float fraction : {1.0f, 0.25f}) {
        const kernels::FakeGrid grid{0.5f, -12, 10, fraction};
        const std::vector<float> x = values_of(n, 0.37f), dy = values_of(n, 0.71f);
        std::vector<float> y = x, dx = dy;
        kernels::fake_quantize(y.data(), n, grid, y.data());
        const double by_scale = kernels::fake_quantize_gradient(x.data(), dy.data(), n, grid, dx.data());
        double expected = 0, size = 1;
        for (size_t k = 0; k < n; ++k) {
          const float at = x[k] / grid.scale, code = std::nearbyint(std::fmin(std::fmax(at, -12), 10));
          const bool within = at >= -12.5f && at <= 10.5f;
          REQUIRE(y[k] == (fraction == 1 ? 0.5f * code : x[k] + fraction * (0.5f * code - x[k])));
          REQUIRE(dx[k] == dy[k] * (within ? 1.0f : 1 - fraction));
          const double term = static_cast<double>(dy[k]) * static_cast<double>(code - (within ? at : 0));
          expected += term;
          size += std::fabs(term);
        }
        REQUIRE(std::fabs(by_scale - expected) < 1e-6 * size);
        REQUIRE(kernels::fake_quantize_gradient(x.data(), dy.data(), n, grid, nullptr) == by_scale);
      }
  });
}

TEST_CASE("squared errors, and their gradient on top of what there is") {
  test::on_every_target([] {
    for (const size_t n : kSizes) {
      const std::vector<float> a = values_of(n, 0.37f), b = values_of(n, 0.71f), before = values_of(n, 1.3f);
      std::vector<float> by_a(n), on_top = before;
      const double sum = kernels::squared_error(a.data(), b.data(), n, 3, nullptr, by_a.data());
      REQUIRE(kernels::squared_error(a.data(), b.data(), n, 3, on_top.data(), on_top.data()) == sum);
      REQUIRE(kernels::squared_error(a.data(), b.data(), n, 3, nullptr, nullptr) == sum);
      double expected = 0;
      for (size_t k = 0; k < n; ++k) {
        const float difference = a[k] - b[k];
        expected += static_cast<double>(difference) * static_cast<double>(difference);
        REQUIRE(by_a[k] == 3 * difference);
        REQUIRE(on_top[k] == before[k] + 3 * difference);
      }
      REQUIRE(std::fabs(sum - expected) <= 1e-6 * expected);
    }
  });
}

TEST_CASE("products summed by column") {
  test::on_every_target([] {
    for (const size_t channels : {size_t{1}, size_t{8}, size_t{19}})
      for (const size_t rows : {size_t{0}, size_t{1}, size_t{16}, size_t{37}}) {
        const size_t n = rows * channels;
        const std::vector<float> dy = values_of(n, 0.37f), y = values_of(n, 0.71f), bias = values_of(channels, 1.3f);
        const auto near = [&](const std::vector<double>& sums, bool has_y, bool has_bias, double start) {
          for (size_t c = 0; c < channels; ++c) {
            double sum = start, size = 1;
            for (size_t k = c; k < n; k += channels) {
              const double factor = has_y ? static_cast<double>(y[k] - (has_bias ? bias[c] : 0)) : 1;
              sum += static_cast<double>(dy[k]) * factor;
              size += std::fabs(static_cast<double>(dy[k]) * factor);
            }
            REQUIRE(std::fabs(sums[c] - sum) < 1e-6 * size);
          }
        };
        for (const int kind : {0, 1, 2}) {
          std::vector<double> sums(channels, 2);
          kernels::add_products_by_column(
              {dy.data(), kind > 0 ? y.data() : nullptr, kind > 1 ? bias.data() : nullptr, rows, channels},
              sums.data());
          near(sums, kind > 0, kind > 1, 2);
        }
        std::vector<double> sums(channels, 1);
        kernels::add_row_of_products(y.data(), channels, dy.data(), rows, channels, sums.data());
        near(sums, true, false, 1);
      }
  });
}
