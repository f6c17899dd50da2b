// SPDX-License-Identifier: Apache-2.0
// Decides which tensors get a quantizer.
//
// On a platform of placement OPERANDS only integer kernels save time, and every quantizer costs accuracy. So a tensor
// is quantized only if an integer kernel needs it:
//   - every operand of an integer kernel, and every output of a kernel that gives integers (ONNX Runtime runs a Conv
//     in float if its output is not quantized);
//   - the output of an operator between integer kernels that has an integer form itself (Add, Concat, pooling,
//     movers), if all its inputs are integer-made;
//   - every tensor for which a QuantizeConfig has output quantizers;
//   - nothing else. Outputs of Gemm and MatMul stay float unless a kernel reads them. Islands of float operators stay
//     float inside. A float reader of a float-made tensor reads the tensor itself.
//
// On a platform of placement OUTPUTS, the model's inputs and the output of every operator that the platform names are
// quantized.
//
// A Relu or Clip that is the only reader of its input shares the quantizer of its producer, which stands behind it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/decide/find_front_ends.h"
#include "core/decide/role.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

/// A tensor that is followed by a QuantizeLinear and a DequantizeLinear.
struct PlacedTensor {
  ValueId value;
  /// The index of the group; tensors of a group share their parameters (a mover's input and output).
  size_t group = 0;
  /// True if the tensor exists only in integers: every reader and the graph output read the DequantizeLinear. Otherwise
  /// only kernels read the DequantizeLinear, and all others read the float tensor.
  bool integer_made = false;

  bool operator==(const PlacedTensor&) const = default;
};

/// The quantized tensors of a graph, and the roles of its nodes.
struct Placement {
  std::vector<PlacedTensor> tensors;  // inputs first, then in the order in which the graph computes them
  size_t groups = 0;
  std::vector<NodeRole> roles;  // by node; kFloat with the reason for a kernel that turns out not to be possible

  /// Returns null if the value is not quantized.
  const PlacedTensor* find(ValueId value) const;
};

/// Decides the placement; the kernels `in_float` stay in float.
Placement place(const Graph& graph, const framework::Attachment& attachment,
                const std::vector<FloatChoice>& in_float = {});

/// Follows the chain of clamps behind `value`, as long as each is the only reader of its input, and returns the last
/// output; `value` itself without clamps.
ValueId value_after_clamps(const Graph& graph, const Uses& uses, const std::vector<NodeRole>& roles, ValueId value);

}  // namespace tersor::ptq
