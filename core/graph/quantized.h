// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"

namespace tersor {

/// An operator whose presence tells that a model is quantized: QuantizeLinear, DequantizeLinear, and those that compute
/// with integers or make them (QLinearConv, MatMulInteger, DynamicQuantizeLinear, MatMulNBits, ...).
bool is_quantized(const Node& node);

}  // namespace tersor
