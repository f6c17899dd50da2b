// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime quantizes the float weight of a Conv, ConvTranspose or Gemm by itself, with one scale for all channels,
// where the node stands between a DequantizeLinear and a QuantizeLinear (a Relu or Clip in front of the latter or
// none). A Sum of one operand in front of the node, which changes no value, hides the DequantizeLinear from it:
//
//   DequantizeLinear -> Conv(W float) -> QuantizeLinear   becomes
//   DequantizeLinear -> Sum -> Conv(W float) -> QuantizeLinear
//
// It makes an integer AveragePool there of one that has dilations too, and then refuses the model: the same helps.
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// In a quantized graph. Returns how many nodes were guarded.
int guard_float_nodes(Graph& graph);

}  // namespace tersor::ptq
