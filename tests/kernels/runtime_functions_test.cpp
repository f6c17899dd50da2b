// SPDX-License-Identifier: Apache-2.0
// That they have the runtime's bits is for the recorded cases of tests/simulate; here, that every target has the same.
#include "core/kernels/runtime_functions.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/kernels/fused.h"
#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

std::vector<float> arguments() {
  std::vector<float> x{0.0f, -0.0f, 1e-30f, 1e-42f, 100.0f, -100.0f, 3.4e38f, -3.4e38f};
  x.push_back(std::numeric_limits<float>::infinity());
  x.push_back(-std::numeric_limits<float>::infinity());
  for (int k = -3000; k < 3000; ++k) x.push_back(static_cast<float>(k) * 0.00717f);
  return x;
}

template <class Function>
void check(const Function& function, double (*exact)(double), double tolerance) {
  const std::vector<float> x = arguments();
  for (const bool fused : {false, true}) {
    std::vector<float> first;
    on_every_target([&] {
      std::vector<float> y(x.size());
      function(x, fused, y);
      if (first.empty()) first = y;
      for (size_t k = 0; k < x.size(); ++k) {
        CAPTURE(x[k], fused);
        REQUIRE(bits_of(y[k]) == bits_of(first[k]));
        REQUIRE(std::fabs(y[k] - exact(x[k])) <= tolerance);
      }
    });
  }
}

}  // namespace

TEST_CASE("the runtime's sigmoid, tanh and exp have the same bits on every target") {
  check([](const auto& x, bool fused, auto& y) { runtime_sigmoid(x.data(), x.size(), fused, y.data()); },
        [](double v) { return 1 / (1 + std::exp(-v)); }, 5e-7);
  check([](const auto& x, bool fused, auto& y) { runtime_tanh(x.data(), x.size(), fused, y.data()); },
        [](double v) { return std::tanh(v); }, 5e-7);
  for (const float lowest : {-103.9720840454f, -88.3762626647949f})
    check(
        [&](const auto& x, bool fused, auto& y) {
          for (size_t k = 0; k < x.size(); ++k) y[k] = -std::fabs(x[k]);
          runtime_exponential(y.data(), y.size(), 0.0f, lowest, fused, y.data());
        },
        [](double v) { return std::exp(-std::fabs(v)); }, 2e-7);
}

TEST_CASE("products and sums are rounded once, halfway cases and subnormal sums included") {
  const auto same = [](float a, float b, float c) {
    CAPTURE(a, b, c);
    REQUIRE(bits_of(fma_once(a, b, c)) == bits_of(std::fmaf(a, b, c)));
  };
  for (int power = -149; power < 20; ++power)
    for (const float mantissa : {1.0f, 1.5f, 0x1.000002p0f, 0x1.fffffep0f}) {
      const float c = std::ldexp(mantissa, power);
      for (const float tiny : {0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1.fffffep-26f, 0x1p-60f}) {
        same(c, tiny, c);
        same(c, -tiny, c);
        same(-c, tiny * 0x1.000002p0f, c);
      }
    }
  same(0.0f, 1.0f, -0.0f);
  same(3e38f, 3.0f, -3e38f);
}
