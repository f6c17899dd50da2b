// SPDX-License-Identifier: Apache-2.0
// The element-wise loops against plain ones: equal bits, on every target this machine has, for every length of tail.
#include "core/kernels/elementwise.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

std::vector<float> random(size_t count, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int32_t>(bits())) * 1e-9f;
  return values;
}

float bounded(float x, const Bounds& bounds) {
  x = x < bounds.low ? bounds.low : x;
  return x > bounds.high ? bounds.high : x;
}

float apply(Arithmetic op, float a, float b) {
  switch (op) {
    case Arithmetic::kAdd:
      return a + b;
    case Arithmetic::kSub:
      return a - b;
    case Arithmetic::kMul:
      return a * b;
    default:
      return a / b;
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("arithmetic is that of single floats, in place too") {
  on_every_target([] {
    for (const Arithmetic op : {Arithmetic::kAdd, Arithmetic::kSub, Arithmetic::kMul, Arithmetic::kDiv})
      for (size_t n = 1; n < 40; n += 3)
        for (int moves = 0; moves < 4; ++moves) {
          const bool a_moves = (moves & 1) != 0, b_moves = (moves & 2) != 0;
          const auto a = random(n, 1), b = random(n, 2);
          const Bounds bounds{-0.5f, 0.75f};
          std::vector<float> want(n), got(n);
          for (size_t k = 0; k < n; ++k) want[k] = bounded(apply(op, a[a_moves ? k : 0], b[b_moves ? k : 0]), bounds);
          arithmetic(op, a.data(), a_moves, b.data(), b_moves, n, bounds, got.data());
          REQUIRE(same_bits(got, want));
          if (!a_moves) continue;
          got = a;
          arithmetic(op, got.data(), true, b.data(), b_moves, n, bounds, got.data());
          REQUIRE(same_bits(got, want));
        }
  });
}

TEST_CASE("bounds leave NaN alone") {
  on_every_target([] {
    std::vector<float> x(9, std::nanf("")), y(9);
    x[3] = -7;
    x[8] = 7;
    clamp(x.data(), x.size(), {-1, 1}, y.data());
    for (size_t k = 0; k < y.size(); ++k) {
      if (k == 3 || k == 8)
        REQUIRE(y[k] == (k == 3 ? -1.0f : 1.0f));
      else
        REQUIRE(std::isnan(y[k]));
    }
  });
}

TEST_CASE("channels are scaled, and rows joined, element by element") {
  on_every_target([] {
    for (const size_t channels : {1, 3, 8, 17, 40}) {
      const size_t rows = 5;
      const auto x = random(rows * channels, 3), factors = random(channels, 4), terms = random(channels, 5);
      std::vector<float> scaled(rows * channels), want(rows * channels), most(channels), mean(channels);
      scale_channels(x.data(), rows, channels, factors.data(), terms.data(), {0, 6}, scaled.data());
      for (size_t k = 0; k < want.size(); ++k)
        want[k] = bounded(x[k] * factors[k % channels] + terms[k % channels], {0, 6});
      REQUIRE(same_bits(scaled, want));
      std::vector<const float*> pointers;
      for (size_t r = 0; r < rows; ++r) pointers.push_back(x.data() + r * channels);
      max_of_rows(pointers.data(), rows, channels, most.data());
      mean_of_rows(pointers.data(), rows, channels, 5, mean.data());
      for (size_t c = 0; c < channels; ++c) {
        float sum = 0, largest = x[c];
        for (size_t r = 0; r < rows; ++r) {
          sum += x[r * channels + c];
          largest = std::fmax(largest, x[r * channels + c]);
        }
        REQUIRE(most[c] == largest);
        REQUIRE(mean[c] == sum / 5);
      }
    }
  });
}
