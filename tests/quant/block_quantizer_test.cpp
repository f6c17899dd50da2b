// SPDX-License-Identifier: Apache-2.0
#include "core/quant/block_quantizer.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

std::vector<float> bell(size_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    double sum = 0;
    for (int k = 0; k < 12; ++k) sum += static_cast<double>(random()) / 4294967296.0;
    value = static_cast<float>(sum - 6);
  }
  return values;
}

double error_of(const std::vector<float>& weights, const BlockParams& params) {
  const std::vector<float> read = dequantize(quantize(weights, params), params);
  double sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) sum += (weights[k] - read[k]) * static_cast<double>(weights[k] - read[k]);
  return sum;
}

BlockParams of(int bits, QuantizationMethod method, int64_t size, int64_t columns, bool allows_negative = false) {
  return {method, {bits, true, false}, allows_negative, size, columns, {}, {}};
}

}  // namespace

TEST_CASE("each block has a scale of its own, the last one being shorter") {
  const std::vector<float> weights = bell(5 * 70);
  const BlockParams params = choose_blocks(weights, of(4, QuantizationMethod::kSymmetric, 32, 70), {});
  REQUIRE(params.blocks() == 3);
  REQUIRE(params.scale.size() == 15);
  REQUIRE_FALSE(params.has_zero_points());
  // A block alone gives what it gives among others.
  const std::vector<float> last(weights.begin() + 70 + 64, weights.begin() + 140);
  const BlockParams alone = choose_blocks(last, of(4, QuantizationMethod::kSymmetric, 32, 6), {});
  REQUIRE(alone.scale[0] == params.scale[params.index(1, 69)]);
}

TEST_CASE("smaller blocks, more bits, free zero points and turned grids lose less") {
  const std::vector<float> weights = bell(16 * 256);
  double before = std::numeric_limits<double>::infinity();
  for (const int64_t size : {256, 128, 64, 32, 16}) {
    const double error =
        error_of(weights, choose_blocks(weights, of(4, QuantizationMethod::kSymmetric, size, 256), {}));
    REQUIRE(error < before);
    before = error;
  }
  before = std::numeric_limits<double>::infinity();
  for (int bits = 2; bits <= 8; ++bits) {
    const auto error = [&](QuantizationMethod method, bool turned) {
      return error_of(weights, choose_blocks(weights, of(bits, method, 32, 256, turned), {}));
    };
    const double plain = error(QuantizationMethod::kSymmetric, false);
    REQUIRE(plain < before);
    before = plain;
    REQUIRE(error(QuantizationMethod::kSymmetric, true) < plain);
    if (bits < 8) REQUIRE(error(QuantizationMethod::kUniform, false) < plain);
    REQUIRE(error(QuantizationMethod::kPowerOfTwo, false) >= plain);
  }
}

TEST_CASE("powers of two are powers of two, and important columns lose less") {
  const std::vector<float> weights = bell(8 * 64);
  for (const float scale : choose_blocks(weights, of(4, QuantizationMethod::kPowerOfTwo, 32, 64), {}).scale) {
    int exponent = 0;
    REQUIRE(std::frexp(scale, &exponent) == 0.5f);
  }
  std::vector<double> importance(64, 1.0);
  importance[5] = 1000;
  const BlockParams even = choose_blocks(weights, of(3, QuantizationMethod::kSymmetric, 32, 64), {}),
                    heavy = choose_blocks(weights, of(3, QuantizationMethod::kSymmetric, 32, 64), {}, importance);
  const auto error_at_5 = [&](const BlockParams& params) {
    const std::vector<float> read = dequantize(quantize(weights, params), params);
    double sum = 0;
    for (size_t o = 0; o < 8; ++o) sum += std::pow(weights[o * 64 + 5] - read[o * 64 + 5], 2);
    return sum;
  };
  REQUIRE(error_at_5(heavy) < error_at_5(even));
}

TEST_CASE("a block of zeros is read back as zeros, and a weight that is not finite is refused") {
  std::vector<float> weights(64, 0.0f);
  const BlockParams params = choose_blocks(weights, of(4, QuantizationMethod::kUniform, 32, 64), {});
  REQUIRE(dequantize(quantize(weights, params), params) == weights);
  weights[3] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE_THROWS_AS(choose_blocks(weights, of(4, QuantizationMethod::kSymmetric, 32, 64), {}), Error);
}
