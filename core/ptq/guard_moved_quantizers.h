// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime moves quantizers over nodes that only pass values on. Where a subgraph reads what such a node gives, it
// looks the reader up among inputs that it does not have and ends the whole process (QDQPropagationTransformer); where
// the model gives out what a Transpose reads, it gives the quantized values out. A Sum of one operand, which changes no
// value, stands in the way:
//
//   DequantizeLinear -> Transpose -> body of a Loop   becomes   DequantizeLinear -> Transpose -> Sum -> body of a Loop
//   output of the model -> Transpose -> QuantizeLinear   becomes   output -> Sum -> Transpose -> QuantizeLinear
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// In a quantized graph. Returns how many places were guarded.
int guard_moved_quantizers(Graph& graph);

}  // namespace tersor::ptq
