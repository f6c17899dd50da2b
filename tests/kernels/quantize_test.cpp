// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

const CodeGrid kGrids[] = {
    {0.25f, 128, false}, {0.25f, 0, true}, {0.1f, 3, false}, {1.7e-3f, -128, true}, {3.0f, 255, false}};

}  // namespace

TEST_CASE("codes round halves to even, divide and saturate") {
  std::vector<float> x{0.0f, -0.0f, 0.125f, 0.375f, -0.125f, 1e30f, -1e30f, 3.4e38f};
  x.push_back(std::numeric_limits<float>::infinity());
  x.push_back(-std::numeric_limits<float>::infinity());
  for (int k = -400; k < 400; ++k) x.push_back(static_cast<float>(k) * 0.0417f);
  for (const CodeGrid& grid : kGrids)
    on_every_target([&] {
      std::vector<uint8_t> q(x.size());
      quantize_codes(x.data(), x.size(), grid, q.data());
      const float low = grid.is_signed ? -128 : 0, high = grid.is_signed ? 127 : 255;
      for (size_t k = 0; k < x.size(); ++k) {
        const float code = std::nearbyint(x[k] / grid.scale) + static_cast<float>(grid.zero_point);
        const auto wanted = static_cast<int32_t>(std::clamp(code, low, high));
        CAPTURE(x[k], grid.scale, grid.zero_point);
        REQUIRE(q[k] == static_cast<uint8_t>(wanted));
      }
      const float nan = std::numeric_limits<float>::quiet_NaN();
      quantize_codes(&nan, 1, grid, q.data());
      REQUIRE(q[0] == static_cast<uint8_t>(grid.zero_point));
    });
}

TEST_CASE("codes stand for the numbers of their grid") {
  std::vector<uint8_t> q(256);
  for (size_t k = 0; k < q.size(); ++k) q[k] = static_cast<uint8_t>(k);
  for (const CodeGrid& grid : kGrids)
    on_every_target([&] {
      std::vector<float> y(q.size());
      std::vector<int16_t> wide(q.size());
      dequantize_codes(q.data(), q.size(), grid, y.data());
      widen_codes(q.data(), q.size(), grid, wide.data());
      for (size_t k = 0; k < q.size(); ++k) {
        const int32_t number =
            (grid.is_signed && k > 127 ? static_cast<int32_t>(k) - 256 : static_cast<int32_t>(k)) - grid.zero_point;
        REQUIRE(wide[k] == number);
        REQUIRE(y[k] == static_cast<float>(number) * grid.scale);
      }
    });
}
