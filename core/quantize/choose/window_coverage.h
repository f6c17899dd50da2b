// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/tensor/shape.h"

namespace tersor::ptq {

/// A spatial axis of a convolution over an input of known size.
struct WindowAxis {
  int64_t size = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  int64_t outputs() const { return (size + begin + end - ((kernel - 1) * dilation + 1)) / stride + 1; }
};

/// The k-th spatial axis of a Conv; arguments as in window_coverage().
WindowAxis window_axis(const Node& conv, const Shape& input, const std::vector<int64_t>& kernel, size_t k);

/// For each tap of a Conv's window, in the order of the weight's spatial elements: the share of output positions at
/// which the tap meets the input instead of the padding. `input` is the input's shape (batch, channels, spatial...),
/// `kernel` the weight's spatial sizes. Without padding all shares are 1.
std::vector<double> window_coverage(const Node& conv, const Shape& input, const std::vector<int64_t>& kernel);

}  // namespace tersor::ptq
