// SPDX-License-Identifier: Apache-2.0
// The rewrites that a runtime's optimizer makes before it looks for groups. Each leaves the numbers as they are.
#pragma once

#include "core/graph/graph.h"

namespace tersor::simulate {

/// Constant nodes become initializers, and so does what is made of constants before a DequantizeLinear (a float
/// weight quantized in the graph): a runtime has none of them left when it looks for groups.
void fold_constant_nodes(Model& model);

/// An int8 pair of QuantizeLinear and DequantizeLinear with zero points becomes uint8, the zero point 128 higher, where
/// the QuantizeLinear has that one reader (onnxruntime qdq_s8_to_u8.cc; everywhere but on ARM).
void rewrite_int8_as_uint8(Graph& graph);

/// QuantizeLinear after an operator that only moves elements, or takes the largest, goes before it, where what
/// makes the values may then have an integer kernel (qdq_propagation.cc).
void move_quantization_up(Graph& graph);

/// DequantizeLinear followed by an operator that only moves elements becomes the mover on integers followed by
/// DequantizeLinear (qdq_propagation.cc and the dropping of pairs around movers).
void move_dequantization_down(Graph& graph);

/// A QuantizeLinear that reads a DequantizeLinear of equal parameters gives the same integers: its readers read those.
void drop_identical_pairs(Graph& graph);

/// A Relu or Clip whose one reader is a QuantizeLinear with a range inside the bounds changes nothing: it is left out
/// (relu_quantizelinear.cc, clip_quantizelinear.cc).
void drop_clamps_before_quantization(Graph& graph);

}  // namespace tersor::simulate
