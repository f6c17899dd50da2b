// SPDX-License-Identifier: Apache-2.0
// Works around faults of ONNX Runtime when it moves quantizers over nodes that only pass values on.
//
// If a subgraph reads the output of such a node, ONNX Runtime looks up the reader among inputs that it does not have,
// and the whole process ends (QDQPropagationTransformer). If a Transpose reads an output of the model, that output
// becomes the quantized values. A Sum with a single operand, which changes no value, prevents both:
//
//   DequantizeLinear -> Transpose -> body of a Loop   becomes   DequantizeLinear -> Transpose -> Sum -> body of a Loop
//   output of the model -> Transpose -> QuantizeLinear   becomes   output -> Sum -> Transpose -> QuantizeLinear
//
// From operator set 21 on, the pair that it inserts behind such a node names its element type, for example int8. On x64
// it then changes all int8 activations to uint8 and refuses its own pair. So the exporter writes the pair itself:
//
//   DequantizeLinear (int8) -> Reshape   becomes   DequantizeLinear -> Reshape -> QuantizeLinear -> DequantizeLinear
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Guards a quantized graph of operator set `opset`. Returns the number of guarded places.
int guard_moved_quantizers(Graph& graph, int64_t opset);

}  // namespace tersor::ptq
