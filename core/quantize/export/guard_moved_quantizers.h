// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime moves quantizers over nodes that only pass values on. Where a subgraph reads what such a node gives, it
// looks the reader up among inputs that it does not have and ends the whole process (QDQPropagationTransformer); where
// the model gives out what a Transpose reads, it gives the quantized values out. A Sum of one operand, which changes no
// value, stands in the way:
//
//   DequantizeLinear -> Transpose -> body of a Loop   becomes   DequantizeLinear -> Transpose -> Sum -> body of a Loop
//   output of the model -> Transpose -> QuantizeLinear   becomes   output -> Sum -> Transpose -> QuantizeLinear
//
// From operator set 21 on, the pair that it puts after such a node names its element type, int8 say, and on x64 it
// then makes all int8 activations uint8 and refuses its own pair. So the pair is written here:
//
//   DequantizeLinear (int8) -> Reshape   becomes   DequantizeLinear -> Reshape -> QuantizeLinear -> DequantizeLinear
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// In a quantized graph of that operator set. Returns how many places were guarded.
int guard_moved_quantizers(Graph& graph, int64_t opset);

}  // namespace tersor::ptq
