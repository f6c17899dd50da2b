// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime makes of float nodes among quantizers, by their types.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

/// ONNX Runtime makes one integer kernel of these between a DequantizeLinear and a QuantizeLinear, and opens no file in
/// which either of the two has parameters by channel.
bool fuses_with_neighbours(const Node& node);

/// Of those the ones that take several values. They fuse where all come from a DequantizeLinear: QLinearAdd,
/// QLinearMul, QLinearConcat; before 1.32 no version opened a file that gave one of these scales by channel.
bool takes_several(const Node& node);

/// ONNX Runtime moves quantizers to the other side of these, in one version or another, or folds them away.
bool lets_through(const Node& node);

/// The value that the runtime dequantizes before `value`, were `is_quantized` one that has quantizers: `value`
/// itself or what nodes make it of that quantizers are moved over. An invalid id where there is none.
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
