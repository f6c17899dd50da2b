// SPDX-License-Identifier: Apache-2.0
// How the axes of a value lie in a tensor: dimension i of the tensor is axis order[i] of the value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor/tensor.h"

namespace tersor::tflite {

using AxisOrder = std::vector<int>;
using Dims = std::vector<int64_t>;

AxisOrder plain_order(size_t rank);
/// Batch, spatial axes, channels; plain below rank 3.
AxisOrder channels_last(size_t rank);

/// The tensor's dimensions.
Dims in_order(const Dims& dims, const AxisOrder& order);
/// Where an axis of the value stands in the tensor.
int position_of(const AxisOrder& order, int axis);
/// Both lay out the elements alike: they differ in the places of axes of one element at most.
bool lie_alike(const Dims& dims, const AxisOrder& a, const AxisOrder& b);

/// The order in which the reshaped value has its elements as they lie already; none where there is none, for axes are
/// merged that do not follow each other in the tensor.
std::optional<AxisOrder> order_after_reshape(const Dims& from, const AxisOrder& order, const Dims& to);

/// The elements rearranged: dimension i of the result is axis order[i] of the tensor.
Tensor rearranged(const Tensor& tensor, const AxisOrder& order);

}  // namespace tersor::tflite
