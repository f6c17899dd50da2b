// SPDX-License-Identifier: Apache-2.0
// The role of an operator in a QDQ file on the chosen platform. Roles decide where quantizers pay off.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/passes/kernel_op.h"

namespace tersor::ptq {

/// What an operator does in the quantized file.
enum class Role {
  kKernel,             // multiplies by a quantized weight; in integers only if its output is quantized too (Conv)
  kKernelFloatOutput,  // the same, but its result may be float (Gemm, MatMul)
  kWeightOnly,         // the weight is stored in integers, the arithmetic is float (ConvTranspose)
  kClamp,              // Relu, or Clip with constant bounds: the range of the quantizer behind it can replace it
  kMover,              // passes values on unchanged: input and output share parameters
  kJoin,               // runs in integers if all its inputs and its output are quantized (Add, Concat, pooling)
  kFloat,              // runs in float
};

/// The role of a node, with the weight if it is a kernel.
struct NodeRole {
  Role role = Role::kFloat;
  /// For kernels and kWeightOnly: the constant weight. A product of two activations has none.
  std::optional<passes::KernelOp> op;
  /// For kFloat: a sentence that says why, if the operator multiplies or its set has an integer kernel.
  std::string reason;
  /// True for a kernel whose weight stays float while its inputs and output are quantized (enable_weights_quantization
  /// = false).
  bool float_weight = false;
  /// True for a kernel that computes in float with a weight stored in integers: none of its inputs is quantized for it.
  bool float_operands = false;

  /// True if the kernel reads activations in integers.
  bool reads_integers() const { return has_kernel() && !float_operands; }
  bool has_kernel() const {
    return role == Role::kKernel || role == Role::kKernelFloatOutput || role == Role::kWeightOnly;
  }
};

/// The role of each node, in graph order.
std::vector<NodeRole> find_roles(const Graph& graph, const framework::Attachment& attachment);

/// True if the platform fixes the parameters of the node's output because its integer kernel requires them. For an
/// operator that runtimes compute in float, nothing requires them, and its range is chosen like others.
bool has_fixed_range(const framework::NodeAttachment& attached);

/// True if the node has a dilation other than 1.
bool is_dilated(const Node& node);

/// True if the Pad fills with zeros.
bool pads_with_zeros(const Graph& graph, const Node& node);

/// The inputs of a node that carry values, not shapes, axes or indices.
std::vector<ValueId> value_inputs(const Node& node, Role role);

}  // namespace tersor::ptq
