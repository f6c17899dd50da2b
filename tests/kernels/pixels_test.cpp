// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/pixels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor;

namespace {

using Block = std::array<int16_t, 64>;

/// The definition, in double.
std::array<double, 64> exact_inverse(const Block& block, const std::array<uint16_t, 64>& quants) {
  std::array<double, 64> out{};
  const double pi = std::acos(-1.0);
  const auto basis = [pi](int k, int at) {
    return (k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * at + 1) * k * pi / 16);
  };
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      for (int v = 0; v < 8; ++v)
        for (int u = 0; u < 8; ++u) {
          const auto at = static_cast<size_t>(8 * v + u);
          out[static_cast<size_t>(8 * y + x)] += basis(u, x) * basis(v, y) * block[at] * quants[at];
        }
  return out;
}

std::vector<uint8_t> random_bytes(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(n);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() & 255u);
  return bytes;
}

}  // namespace

TEST_CASE("the inverse DCT is within a step of the exact one, with the same bytes on every target") {
  std::mt19937 random(7);
  std::array<uint16_t, 64> quants;
  for (uint16_t& quant : quants) quant = static_cast<uint16_t>(1 + random() % 20);
  constexpr size_t kBlocks = 40;
  std::vector<int16_t> coefficients(kBlocks * 64);
  for (size_t k = 0; k < kBlocks; ++k)
    for (size_t i = 0; i < (k % 4 == 0 ? 1 : 64); ++i)  // every fourth has its mean alone
      coefficients[k * 64 + i] = static_cast<int16_t>(static_cast<int>(random() % 41) - 20);
  std::vector<uint8_t> first;
  test::on_every_target([&] {
    std::vector<uint8_t> out(8 * 8 * kBlocks);
    kernels::inverse_dct(coefficients.data(), quants.data(), kBlocks, out.data(), 8 * kBlocks);
    for (size_t k = 0; k < kBlocks; ++k) {
      Block block;
      std::copy_n(coefficients.begin() + static_cast<std::ptrdiff_t>(64 * k), 64, block.begin());
      const std::array<double, 64> exact = exact_inverse(block, quants);
      for (size_t y = 0; y < 8; ++y)
        for (size_t x = 0; x < 8; ++x) {
          const double expected = std::clamp(exact[8 * y + x] + 128, 0.0, 255.0);
          REQUIRE(std::abs(out[y * 8 * kBlocks + 8 * k + x] - expected) < 1);
        }
    }
    if (first.empty()) first = out;
    REQUIRE(out == first);
  });
}

TEST_CASE("rows of any length are doubled and coloured as each pixel by itself") {
  test::on_every_target([] {
    for (size_t n = 1; n < 300; n += n < 40 ? 1 : 37) {
      const std::vector<uint8_t> near = random_bytes(n, 1), far = random_bytes(n, 2), third = random_bytes(n, 3);
      std::vector<uint16_t> sums(n);
      kernels::three_to_one(near.data(), far.data(), n, sums.data());
      std::vector<uint8_t> wide(2 * n), rgb(3 * n);
      kernels::double_row(sums.data(), n, 4, 8, 7, wide.data());
      kernels::ycc_to_rgb(near.data(), far.data(), third.data(), n, rgb.data());
      for (size_t k = 0; k < n; ++k) {
        REQUIRE(sums[k] == near[k] * 3 + far[k]);
        REQUIRE(wide[2 * k] == (sums[k] * 3 + sums[k == 0 ? 0 : k - 1] + 8) >> 4);
        REQUIRE(wide[2 * k + 1] == (sums[k] * 3 + sums[std::min(k + 1, n - 1)] + 7) >> 4);
        const double y = near[k], cb = far[k] - 128.0, cr = third[k] - 128.0;
        const double colours[3] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
        for (size_t c = 0; c < 3; ++c) REQUIRE(std::abs(rgb[3 * k + c] - std::clamp(colours[c], 0.0, 255.0)) < 0.51);
      }
    }
  });
}

TEST_CASE("pixels are weighed one after another, of one channel and of three") {
  const std::vector<double> weights = {0.1, 0.2, 0.3, 0.4};
  const std::vector<kernels::PixelWindow> windows = {
      {0, 4, weights.data()}, {5, 1, weights.data() + 3}, {7, 3, weights.data()}};
  constexpr size_t kWidth = 10;
  for (const size_t channels : {size_t{1}, size_t{3}}) {
    const std::vector<uint8_t> pixels = random_bytes(kWidth * channels, 5);
    test::on_every_target([&] {
      std::vector<double> room(4 * kWidth), out(windows.size() * channels);
      kernels::weigh_pixels(pixels.data(), kWidth, channels, windows.data(), windows.size(), room.data(), out.data());
      for (size_t k = 0; k < windows.size(); ++k)
        for (size_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (size_t i = 0; i < windows[k].count; ++i) {
            const volatile double product = windows[k].weights[i] * pixels[(windows[k].begin + i) * channels + c];
            sum += product;
          }
          REQUIRE(out[k * channels + c] == sum);
        }
    });
  }
  const std::vector<double> values = {0, 0.49, 0.5, 1.49, 254.5, 254.49, 255, 300};
  const std::vector<uint8_t> expected = {0, 0, 1, 1, 255, 254, 255, 255};
  test::on_every_target([&] {
    std::vector<uint8_t> rounded(values.size());
    kernels::round_to_bytes(values.data(), values.size(), rounded.data());
    REQUIRE(rounded == expected);
  });
}
