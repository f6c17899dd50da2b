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
      REQUIRE(q[0] == static_cast<uint8_t>(static_cast<int32_t>(low)));
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

TEST_CASE("codes are added and multiplied as WebAssembly does, and by one ratio, for both kinds of 8 bits") {
  std::vector<uint8_t> a, b;
  for (int i = 0; i < 256; i += 5)
    for (int j = 0; j < 256; j += 3) a.push_back(static_cast<uint8_t>(i)), b.push_back(static_cast<uint8_t>(j));
  const auto number = [](const CodeGrid& grid, uint8_t raw) {
    return static_cast<float>((grid.is_signed ? static_cast<int8_t>(raw) : static_cast<int32_t>(raw)) -
                              grid.zero_point) *
           grid.scale;
  };
  for (const CodeGrid& of_a : kGrids)
    for (const CodeGrid& of_b : kGrids)
      for (const CodeArithmetic op : {CodeArithmetic::kAdd, CodeArithmetic::kMul, CodeArithmetic::kMulByRatio}) {
        const CodeGrid to{0.31f, of_a.zero_point, of_a.is_signed};
        const float low = to.is_signed ? -128 : 0, high = to.is_signed ? 127 : 255,
                    shift = static_cast<float>(to.zero_point);
        std::vector<uint8_t> wanted;
        for (size_t k = 0; k < a.size(); ++k) {
          if (op == CodeArithmetic::kMulByRatio) {
            const CodeGrid unit_a{1, of_a.zero_point, of_a.is_signed}, unit_b{1, of_b.zero_point, of_b.is_signed};
            const float ratio = of_a.scale * of_b.scale / to.scale;
            const float v = number(unit_a, a[k]) * number(unit_b, b[k]) * ratio + shift;
            wanted.push_back(
                static_cast<uint8_t>(static_cast<int32_t>(std::nearbyint(std::min(std::max(v, low), high)))));
            continue;
          }
          const float x = number(of_a, a[k]), z = number(of_b, b[k]);
          const float v = (op == CodeArithmetic::kAdd ? x + z : x * z) / to.scale;
          const float bounded = std::min(std::max(v, low - shift), high - shift);
          wanted.push_back(static_cast<uint8_t>(static_cast<int32_t>(std::nearbyint(bounded + shift))));
        }
        on_every_target([&] {
          std::vector<uint8_t> y(a.size());
          combine_codes(op, a.data(), of_a, b.data(), of_b, a.size(), to, y.data());
          REQUIRE(y == wanted);
        });
      }
}

TEST_CASE("a grid for each place gives what one for all does there") {
  std::vector<float> x, scales;
  std::vector<uint8_t> zero_points;
  for (int k = -300; k < 300; ++k) {
    x.push_back(static_cast<float>(k) * 0.0417f);
    scales.push_back(0.01f + 0.003f * static_cast<float>((k + 300) % 17));
    zero_points.push_back(static_cast<uint8_t>(k * 37));
  }
  x[5] = std::numeric_limits<float>::quiet_NaN();
  x[6] = std::numeric_limits<float>::infinity();
  x[7] = -3.4e38f;
  for (const bool is_signed : {false, true})
    for (const bool has_zero_points : {false, true})
      on_every_target([&] {
        const CodeGrids grids{scales.data(), has_zero_points ? zero_points.data() : nullptr, is_signed};
        std::vector<uint8_t> q(x.size());
        std::vector<float> y(x.size());
        quantize_codes(x.data(), x.size(), grids, q.data());
        dequantize_codes(q.data(), q.size(), grids, y.data());
        for (size_t k = 0; k < x.size(); ++k) {
          const int32_t raw = has_zero_points ? zero_points[k] : 0;
          const CodeGrid grid{scales[k], is_signed && raw > 127 ? raw - 256 : raw, is_signed};
          uint8_t code;
          float value;
          quantize_codes(&x[k], 1, grid, &code);
          dequantize_codes(&code, 1, grid, &value);
          CAPTURE(x[k], scales[k], raw);
          REQUIRE(q[k] == code);
          REQUIRE(y[k] == value);
        }
      });
}
