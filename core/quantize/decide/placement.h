// SPDX-License-Identifier: Apache-2.0
// Which tensors get a quantizer.
//
// A platform of placement OPERANDS pays for integer kernels only, and every quantizer costs accuracy, so one stands
// only where an integer kernel comes of it:
//   - every operand of an integer kernel, and every output of a kernel that gives integers (ONNX Runtime runs a Conv
//     whose output is not quantized in float);
//   - what lies between integer kernels and itself has an integer form (Add, Concat, pooling, movers), when everything
//     it reads is integer-made;
//   - what a QuantizeConfig has output quantizers for;
//   - nothing else: outputs of Gemm and MatMul stay float unless a kernel reads them, islands of float operators stay
//     float inside, and a float reader of a float-made tensor reads the tensor itself.
// A platform of placement OUTPUTS quantizes the model's inputs and the output of every operator that it says to.
//
// A Relu or Clip that alone reads its input shares its producer's quantizer, which stands after it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/decide/find_front_ends.h"
#include "core/decide/role.h"

namespace tersor::ptq {

/// A tensor after which stand a QuantizeLinear and a DequantizeLinear.
struct PlacedTensor {
  ValueId value;
  /// Tensors of one group share their parameters (a mover's input and output).
  size_t group = 0;
  /// It exists as its DequantizeLinear only: every reader and the graph output read that. Otherwise kernels alone read
  /// the DequantizeLinear, and all others the float tensor.
  bool integer_made = false;

  bool operator==(const PlacedTensor&) const = default;
};

struct Placement {
  std::vector<PlacedTensor> tensors;  // in the order in which the graph makes them, inputs first
  size_t groups = 0;
  std::vector<NodeRole> roles;  // by node; a kernel that cannot be one after all is kFloat with the reason

  /// Null when the value is not quantized.
  const PlacedTensor* find(ValueId value) const;
};

/// `in_float`: kernels that stay in float.
Placement place(const Graph& graph, const framework::Attachment& attachment,
                const std::vector<FloatChoice>& in_float = {});

/// The value after the clamps that, one after the other, alone read their input, starting with `value`.
ValueId value_after_clamps(const Graph& graph, const Uses& uses, const std::vector<NodeRole>& roles, ValueId value);

}  // namespace tersor::ptq
