// SPDX-License-Identifier: Apache-2.0
#include "core/quant/even_steps.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

TEST_CASE("one pass gives what codes and back give, bit for bit") {
  std::mt19937 random(7);
  std::vector<float> x;
  for (int k = 0; k < 2 * 3 * 5; ++k) x.push_back(static_cast<float>(random() % 4001) / 1000 - 2);
  x[3] = std::numeric_limits<float>::infinity(), x[4] = -x[3], x[5] = std::nanf(""), x[6] = 1e30f, x[7] = -0.0f;
  const Tensor tensor = Tensor::of<float>({2, 3, 5}, x);
  for (const QuantizationMethod method : acting_methods())
    for (const int n_bits : {2, 7, 16})
      for (const bool is_signed : {false, true})
        for (int axis = -1; axis < 3; ++axis) {
          const size_t channels = axis < 0 ? 1 : static_cast<size_t>(tensor.shape()[axis]);
          std::vector<Range> ranges;
          for (size_t c = 0; c < channels; ++c) {
            const double high = std::ldexp(1.0, static_cast<int>(c) - 1);
            ranges.push_back({is_signed || method == QuantizationMethod::kUniform ? -high : 0, high});
          }
          const QuantizationParams params = params_of_ranges(method, {n_bits, is_signed, false}, ranges,
                                                             axis < 0 ? std::nullopt : std::optional<int>(axis));
          const Tensor wanted = dequantize(quantize(tensor, params), params);
          REQUIRE(fake_quantize(tensor, params) == wanted);
          std::vector<float> in_place = x;
          fake_quantize(in_place, channel_blocks(tensor.shape(), params.channel_axis), EvenSteps::of(params), in_place);
          REQUIRE(Tensor::of<float>({2, 3, 5}, in_place) == wanted);
          EvenSteps steps;
          steps.resize(channels);
          for (size_t c = 0; c < channels; ++c) steps.set(c, quantizer_of(method), ranges[c], params.grid);
          REQUIRE(steps.scale == params.scale);
        }
  REQUIRE_THROWS_AS(channel_blocks(tensor.shape(), 3), Error);
}
