// SPDX-License-Identifier: Apache-2.0
#include "core/quant/params.h"

#include <cfloat>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

QuantizationParams params(QuantizationMethod method, IntegerGrid grid, Range range) {
  return params_of_ranges(method, grid, std::span<const Range>(&range, 1));
}

constexpr QuantizationMethod kMethods[] = {QuantizationMethod::kPowerOfTwo, QuantizationMethod::kSymmetric,
                                           QuantizationMethod::kUniform};

}  // namespace

TEST_CASE("zero is represented exactly for every method, grid and range") {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const QuantizationMethod method = kMethods[random() % 3];
    const bool is_signed = random() % 2 == 0;
    const IntegerGrid grid{2 + static_cast<int>(random() % 15), is_signed, is_signed && random() % 2 == 0};
    const double low = -std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 80) - 50);
    const double high = std::ldexp(static_cast<double>(random() % 1000 + 1), static_cast<int>(random() % 80) - 50);
    const Range range = quantizer_of(method).cover(low, high, grid, 1e-9);
    const QuantizationParams made = params(method, grid, range);
    INFO(enum_word(method) << " " << grid.n_bits << " bits, " << low << " to " << high);
    REQUIRE(made.scale[0] >= FLT_MIN);
    REQUIRE(made.scale[0] <= FLT_MAX);
    REQUIRE(made.zero_point[0] >= grid.q_min());
    REQUIRE(made.zero_point[0] <= grid.q_max());
    const int32_t q = quantize_value(0.0f, made.scale[0], made.zero_point[0], grid.q_min(), grid.q_max());
    REQUIRE(dequantize_value(q, made.scale[0], made.zero_point[0]) == 0.0f);
  }
}

TEST_CASE("quantizing twice changes nothing, and inside the range the error is at most half a step") {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    const QuantizationMethod method = kMethods[random() % 3];
    const bool is_signed = random() % 2 == 0;
    const IntegerGrid grid{2 + static_cast<int>(random() % 7), is_signed, false};
    const double low = is_signed ? -1.0 - random() % 100 : 0.0, high = 1.0 + random() % 100;
    const QuantizationParams made = params(method, grid, quantizer_of(method).cover(low, high, grid, 1e-9));
    const Range ends = made.representable();
    for (int k = 0; k < 50; ++k) {
      const float x = static_cast<float>(low + (high - low) * (random() % 10001) / 10000.0);
      const int32_t q = quantize_value(x, made.scale[0], made.zero_point[0], grid.q_min(), grid.q_max());
      const float back = dequantize_value(q, made.scale[0], made.zero_point[0]);
      REQUIRE(quantize_value(back, made.scale[0], made.zero_point[0], grid.q_min(), grid.q_max()) == q);
      if (x >= ends.low && x <= ends.high) REQUIRE(std::fabs(x - back) <= 0.5001 * made.scale[0]);
    }
  }
}

TEST_CASE("a range of no width is the identity's, and a constant is represented") {
  for (const QuantizationMethod method : kMethods) {
    const QuantizationParams made = params(method, {8, false, false}, {0, 0});
    REQUIRE(made.scale[0] == 1.0f);
    REQUIRE(made.zero_point[0] == 0);
  }
  Histogram constant;
  constant.add(std::vector<float>(100, -2.7f));
  const Range range =
      select_activation_range(constant, QuantizationMethod::kUniform, {8, false, false}, Criterion{}).range;
  const QuantizationParams made = params(QuantizationMethod::kUniform, {8, false, false}, range);
  const int32_t q = quantize_value(-2.7f, made.scale[0], made.zero_point[0], 0, 255);
  REQUIRE(dequantize_value(q, made.scale[0], made.zero_point[0]) == Approx(-2.7).epsilon(1e-6));
}

TEST_CASE("the zero point belongs to the scale that is written") {
  // In double the quotient is just below a half, with the scale rounded to float32 just above: the two would differ.
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    const Range range{-1.0 * (random() % 100000 + 1) / 65536, 1.0 * (random() % 100000 + 1) / 65536};
    const QuantizationParams made = params(QuantizationMethod::kUniform, {8, false, false}, range);
    REQUIRE(made.zero_point[0] == static_cast<int32_t>(std::nearbyint(-range.low / made.scale[0])));
  }
}

TEST_CASE("the thresholds of power of two grids give scales that are powers of two") {
  for (double x : {1e-6, 0.3, 0.5, 1.0, 1.5, 127.0, 1e9}) {
    const IntegerGrid grid{8, true, false};
    const Range range = quantizer_of(QuantizationMethod::kPowerOfTwo).cover(-x, x / 2, grid, 1e-9);
    int exponent = 0;
    REQUIRE(std::frexp(params(QuantizationMethod::kPowerOfTwo, grid, range).scale[0], &exponent) == 0.5f);
    REQUIRE(range.high >= x);
    REQUIRE(range.high < 2 * x);
  }
}

TEST_CASE("signed integers and unsigned ones stand for the same values") {
  const QuantizationParams made = params(QuantizationMethod::kSymmetric, {8, true, false}, {-3, 3});
  const QuantizationParams stored = with_sign(made, false);
  REQUIRE(stored.zero_point[0] == 128);
  REQUIRE(stored.storage() == DType::kUint8);
  REQUIRE(stored.representable() == made.representable());
  REQUIRE(with_sign(stored, true) == made);
}

TEST_CASE("what cannot be quantized is refused") {
  REQUIRE_THROWS_AS(params(QuantizationMethod::kUniform, {0, false, false}, {0, 1}), Error);
  REQUIRE_THROWS_AS(params(QuantizationMethod::kSymmetric, {1, true, false}, {-1, 1}), Error);
  REQUIRE(params(QuantizationMethod::kUniform, {1, false, false}, {0, 1}).scale[0] == 1);
  REQUIRE_THROWS_AS(params(QuantizationMethod::kUniform, {17, false, false}, {0, 1}), Error);
  REQUIRE_THROWS_AS(params(QuantizationMethod::kUniform, {8, false, false}, {2, 1}), Error);
  REQUIRE_THROWS_AS(params(QuantizationMethod::kUniform, {8, false, false}, {0, NAN}), Error);
  REQUIRE_THROWS_AS(params(QuantizationMethod::kLutPotQuantizer, {8, false, false}, {0, 1}), Error);
  REQUIRE_THROWS_AS(fixed_params(QuantizationMethod::kUniform, {8, false, false}, 0.0, 0), Error);
  REQUIRE_THROWS_AS(fixed_params(QuantizationMethod::kUniform, {8, false, false}, 1.0 / 256, 256), Error);
}
