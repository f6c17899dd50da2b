// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/winograd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/digest.h"
#include "core/kernels/conv.h"
#include "tests/kernels/targets.h"

namespace winograd_test {
using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

struct Layer {
  int64_t batch, in_channels, out_channels, height, width, before;

  ConvWeights shape() const { return {in_channels, out_channels, 1, 3, 3, false, true}; }
  ConvAxis rows() const { return {height, height + 2 * before - 2, 3, 1, 1, before}; }
  ConvAxis columns() const { return {width, width + 2 * before - 2, 3, 1, 1, before}; }
};

std::vector<float> numbers(int64_t count, uint32_t state) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state)) * 4.6e-10f;
  }
  return values;
}

/// In double, tap by tap.
std::vector<double> plain(const Layer& l, const std::vector<float>& x, const std::vector<float>& w,
                          const std::vector<float>& bias, double low) {
  std::vector<double> y;
  const ConvAxis rows = l.rows(), columns = l.columns();
  for (int64_t n = 0; n < l.batch; ++n)
    for (int64_t oy = 0; oy < rows.out; ++oy)
      for (int64_t ox = 0; ox < columns.out; ++ox)
        for (int64_t o = 0; o < l.out_channels; ++o) {
          double sum = static_cast<double>(bias[static_cast<size_t>(o)]);
          for (int64_t tap = 0; tap < 9; ++tap) {
            const int64_t iy = oy - l.before + tap / 3, ix = ox - l.before + tap % 3;
            if (iy < 0 || iy >= l.height || ix < 0 || ix >= l.width) continue;
            for (int64_t c = 0; c < l.in_channels; ++c)
              sum += static_cast<double>(
                         x[static_cast<size_t>(((n * l.height + iy) * l.width + ix) * l.in_channels + c)]) *
                     static_cast<double>(w[static_cast<size_t>((o * l.in_channels + c) * 9 + tap)]);
          }
          y.push_back(std::max(sum, low));
        }
  return y;
}

/// Checks it against the plain sum and gives the bytes' digest.
std::string check(const Layer& l) {
  const auto x = numbers(l.batch * l.height * l.width * l.in_channels, 1),
             w = numbers(l.out_channels * l.in_channels * 9, 2), bias = numbers(l.out_channels, 3);
  const Epilogue epilogue{bias.data(), -0.5f, 1e30f};
  const auto truth = plain(l, x, w, bias, -0.5);
  std::vector<float> kept;
  on_every_target([&] {
    const Conv conv(l.shape(), w.data());
    std::vector<std::byte> scratch(static_cast<size_t>(Conv::scratch_bytes(l.shape(), l.rows(), l.columns())) + 64);
    auto* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    std::vector<float> y(truth.size(), 1e9f);
    conv.run(x.data(), l.batch, l.rows(), l.columns(), epilogue, {aligned, scratch.size() - 64}, y.data());
    const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
    double worst = 0;
    for (size_t k = 0; k < y.size(); ++k) worst = std::max(worst, std::fabs(static_cast<double>(y[k]) - truth[k]));
    REQUIRE(worst <= 2e-6 * (*most - *least));
    if (kept.empty()) kept = y;
    REQUIRE(y == kept);
  });
  return tersor::sha256_hex({reinterpret_cast<const std::byte*>(kept.data()), kept.size() * sizeof(float)});
}

}  // namespace

TEST_CASE("only wide 3 x 3 layers with unit steps take Winograd's way") {
  const ConvWeights wide{32, 32, 1, 3, 3, false, true};
  REQUIRE(Winograd::suits(wide));
  for (ConvWeights other : {ConvWeights{32, 32, 1, 3, 3, false, false}, ConvWeights{31, 32, 1, 3, 3, false, true},
                            ConvWeights{32, 31, 1, 3, 3, false, true}, ConvWeights{64, 64, 2, 3, 3, false, true},
                            ConvWeights{32, 32, 1, 3, 1, false, true}, ConvWeights{32, 32, 1, 1, 3, false, true}})
    REQUIRE_FALSE(Winograd::suits(other));
}

TEST_CASE("Winograd's convolution is the plain one within 2e-6 of the range, with the same bits in every build") {
  REQUIRE(check({1, 32, 32, 8, 8, 1}) == "1c6e52e5ede552dd3d5de0164c165acb9a032589be6b356f2c6d4381ddf1d149");
  REQUIRE(check({2, 33, 37, 7, 9, 1}) == "811a3dad8cd5a7bb7f4bebe3b980be19696ce984eb431a3e72fd4d39892a5025");
  check({1, 64, 48, 3, 3, 0});
  check({1, 40, 32, 1, 1, 1});
  check({3, 130, 70, 14, 5, 1});
  check({1, 32, 32, 4, 25, 0});
}

}  // namespace winograd_test
