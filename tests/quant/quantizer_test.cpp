// SPDX-License-Identifier: Apache-2.0
#include "core/quant/quantizer.h"

#include <cmath>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

TEST_CASE("integers are those of QuantizeLinear: division, ties to even, then the zero point") {
  const QuantizationParams params{QuantizationMethod::kUniform, {8, false, false}, std::nullopt, {2.0f}, {3}, {{}}};
  const Tensor x = Tensor::of<float>({8}, {1.0f, 3.0f, 5.0f, -1.0f, -5.0f, -100.0f, 1000.0f, 0.0f});
  const Tensor q = quantize(x, params);
  REQUIRE(q == Tensor::of<uint8_t>({8}, {3, 5, 5, 3, 1, 0, 255, 3}));
  REQUIRE(dequantize(q, params) == Tensor::of<float>({8}, {0, 4, 4, 0, -4, -6, 504, 0}));
}

TEST_CASE("each channel has its own scale along the axis") {
  QuantizationParams params{QuantizationMethod::kSymmetric, {8, true, true}, 1, {1.0f, 0.5f}, {0, 0}, {{}, {}}};
  const Tensor x = Tensor::of<float>({2, 2, 2}, {1, 2, 1, 2, -200, 4, -200, 4});
  REQUIRE(quantize(x, params) == Tensor::of<int8_t>({2, 2, 2}, {1, 2, 2, 4, -127, 4, -127, 8}));
  params.channel_axis = 3;
  REQUIRE_THROWS_AS(quantize(x, params), Error);
  params.channel_axis = 0;
  params.scale = {1.0f};
  REQUIRE_THROWS_AS(quantize(x, params), Error);
}

TEST_CASE("16 bits are stored in 16 bits") {
  const QuantizationParams params{
      QuantizationMethod::kUniform, {16, false, false}, std::nullopt, {0.5f}, {40000}, {{}}};
  const Tensor q = quantize(Tensor::of<float>({3}, {1.0f, -30000.0f, 1e9f}), params);
  REQUIRE(q == Tensor::of<uint16_t>({3}, {40002, 0, 65535}));
  REQUIRE(dequantize(q, params) == Tensor::of<float>({3}, {1.0f, -20000.0f, 12767.5f}));
}

TEST_CASE("a value that is no number becomes the lowest integer") {
  REQUIRE(quantize_value(NAN, 1.0f, 10, 0, 255) == 0);
  REQUIRE(quantize_value(HUGE_VALF, 1.0f, 10, 0, 255) == 255);
  REQUIRE(quantize_value(-HUGE_VALF, 1.0f, 10, 0, 255) == 0);
}
