// SPDX-License-Identifier: Apache-2.0
// The operator types that ONNX Runtime fuses with, or moves past, the quantizers around them.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

/// True if ONNX Runtime fuses the node with the DequantizeLinear in front and the QuantizeLinear behind into one
/// integer kernel. It refuses a file in which either of these has parameters per channel.
bool fuses_with_neighbours(const Node& node);

/// True for those of them with several value inputs, which fuse if all inputs come from a DequantizeLinear, as
/// QLinearAdd, QLinearMul and QLinearConcat do. No version before 1.32 opened a file that gave such a node scales per
/// channel.
bool takes_several(const Node& node);

/// True if some version of ONNX Runtime moves quantizers to the other side of the node, or folds them away.
bool lets_through(const Node& node);

/// The value that the runtime dequantizes in front of `value`, given which values have quantizers: `value` itself, or
/// the value from which nodes that quantizers move over make it. An invalid id if there is none.
template <class IsQuantized>
ValueId dequantized_before(const Graph& graph, const Uses& uses, ValueId value, IsQuantized&& is_quantized) {
  while (value.valid() && !is_quantized(value)) {
    const auto maker = uses.producer_index(value);
    if (!maker || !lets_through(graph.nodes()[*maker])) return {};
    value = graph.nodes()[*maker].inputs[0];
  }
  return value;
}

}  // namespace tersor::ptq
