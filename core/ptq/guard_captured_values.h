// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime carries quantizers forward over nodes that only pass values on, and stops the whole process where a
// subgraph reads what such a node gives (QDQPropagationTransformer looks the reader up among inputs it does not have).
// A Sum of one operand, which changes no value, stands in the way:
//
//   DequantizeLinear -> Transpose -> body of a Loop   becomes   DequantizeLinear -> Transpose -> Sum -> body of a Loop
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// In a quantized graph. Returns how many values were guarded.
int guard_captured_values(Graph& graph);

}  // namespace tersor::ptq
