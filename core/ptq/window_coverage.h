// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/tensor/shape.h"

namespace tersor::ptq {

/// For each tap of a Conv's window, in the order of the weight's spatial elements: the share of output positions at
/// which the tap meets the input rather than the padding. `input` is the input's shape (batch, channels, spatial...),
/// `kernel` the weight's spatial sizes. Without padding all are 1.
std::vector<double> window_coverage(const Node& conv, const Shape& input, const std::vector<int64_t>& kernel);

}  // namespace tersor::ptq
