// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime makes of float nodes among quantizers, by their types.
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// ONNX Runtime makes one integer kernel of these between a DequantizeLinear and a QuantizeLinear, and opens no file in
/// which either of the two has parameters by channel.
bool fuses_with_neighbours(const Node& node);

/// ONNX Runtime moves quantizers to the other side of these.
bool lets_through(const Node& node);

}  // namespace tersor::ptq
