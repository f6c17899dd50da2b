// SPDX-License-Identifier: Apache-2.0
// Fake quantization of floats in one pass, as quantizers in training need it:
//   y = clamp(rne(x / scale), low, high) * scale      low = q_min - zero_point, high = q_max - zero_point
// The result is that of dequantize(quantize(x)) bit for bit; NaN becomes the lowest value.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/params.h"
#include "core/quant/quantizer.h"
#include "core/tensor/shape.h"

namespace tersor::quant {

/// A tensor seen as [outer, channels, inner] around a channel axis; [1, 1, all] without a channel axis.
struct ChannelBlocks {
  size_t outer = 1, channels = 1, inner = 1;
  size_t elements() const { return outer * channels * inner; }
};

/// Error kInvalidArgument if the shape does not have the axis.
ChannelBlocks channel_blocks(const Shape& shape, std::optional<int> channel_axis);

/// Calls `one(index, channel)` for each element in order.
template <class One>
void for_each_element(const ChannelBlocks& blocks, One&& one) {
  size_t index = 0;
  if (blocks.inner == 1) {
    for (size_t o = 0; o < blocks.outer; ++o, index += blocks.channels)
      for (size_t c = 0; c < blocks.channels; ++c) one(index + c, c);
    return;
  }
  for (size_t o = 0; o < blocks.outer; ++o)
    for (size_t c = 0; c < blocks.channels; ++c)
      for (size_t i = 0; i < blocks.inner; ++i) one(index++, c);
}

/// Scale, low and high of each channel.
struct EvenSteps {
  std::vector<float> scale, low, high;

  void resize(size_t channels);
  size_t channels() const { return scale.size(); }
  /// Gives channel `c` the step that params_of_ranges() chooses for a range.
  void set(size_t c, const Quantizer& quantizer, const Range& range, const IntegerGrid& grid);
  static EvenSteps of(const QuantizationParams& params);
};

/// x and y hold blocks.elements() values and may be the same memory; `steps` has as many channels as `blocks`.
void fake_quantize(std::span<const float> x, const ChannelBlocks& blocks, const EvenSteps& steps, std::span<float> y);

}  // namespace tersor::quant
