// SPDX-License-Identifier: Apache-2.0
#include "core/quant/even_steps.h"

#include <string>

#include "core/base/error.h"
#include "core/quant/stored_step.h"
#include "core/tensor/rounding.h"

namespace tersor::quant {

ChannelBlocks channel_blocks(const Shape& shape, std::optional<int> channel_axis) {
  if (!channel_axis) return {1, 1, static_cast<size_t>(shape.elements())};
  const int axis = *channel_axis;
  if (axis < 0 || axis >= shape.rank())
    throw Error(ErrorCode::kInvalidArgument,
                "A tensor of shape " + shape.text() + " has no axis " + std::to_string(axis) + ".");
  return {static_cast<size_t>(shape.elements(0, axis)), static_cast<size_t>(shape[axis]),
          static_cast<size_t>(shape.elements(axis + 1, shape.rank()))};
}

void EvenSteps::resize(size_t channels) {
  scale.assign(channels, 1);
  low.assign(channels, 0);
  high.assign(channels, 0);
}

void EvenSteps::set(size_t c, const Quantizer& quantizer, const Range& range, const IntegerGrid& grid) {
  const StoredStep step = stored_step(quantizer, range, grid);
  scale[c] = step.scale;
  low[c] = static_cast<float>(grid.q_min() - step.zero_point);
  high[c] = static_cast<float>(grid.q_max() - step.zero_point);
}

EvenSteps EvenSteps::of(const QuantizationParams& params) {
  EvenSteps steps;
  for (size_t c = 0; c < params.scale.size(); ++c) {
    steps.scale.push_back(params.scale[c]);
    steps.low.push_back(static_cast<float>(params.grid.q_min() - params.zero_point[c]));
    steps.high.push_back(static_cast<float>(params.grid.q_max() - params.zero_point[c]));
  }
  return steps;
}

void fake_quantize(std::span<const float> x, const ChannelBlocks& blocks, const EvenSteps& steps, std::span<float> y) {
  TERSOR_CHECK(x.size() == blocks.elements() && y.size() == x.size() && steps.channels() == blocks.channels);
  const float *const from = x.data(), *const scales = steps.scale.data(), *const lows = steps.low.data(),
                     *const highs = steps.high.data();
  float* const to = y.data();
  for_each_element(blocks, [=](size_t i, size_t c) {
    float n = from[i] / scales[c];
    n = n > lows[c] ? n : lows[c];  // NaN too
    n = n < highs[c] ? n : highs[c];
    to[i] = round_half_even_small(n) * scales[c];
  });
}

}  // namespace tersor::quant
