// SPDX-License-Identifier: Apache-2.0
// What an operator becomes in a QDQ file on the chosen platform, which decides where quantizers pay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/passes/kernel_op.h"

namespace tersor::ptq {

enum class Role {
  kKernel,             // multiplies by a quantized weight; an integer kernel only with a quantized output (Conv)
  kKernelFloatOutput,  // the same, but may give a float result (Gemm, MatMul)
  kWeightOnly,         // its weight is stored in integers, its arithmetic is float (ConvTranspose)
  kClamp,              // Relu, Clip with constant bounds: done by the range of the quantizer after it
  kMover,              // passes values on unchanged: both sides share their parameters
  kJoin,               // has an integer kernel when all its inputs and its output are quantized (Add, Concat, pooling)
  kFloat,              // runs in float
};

struct NodeRole {
  Role role = Role::kFloat;
  /// Of kKernel..., kWeightOnly: the weight, when it is constant. A product of two activations has none.
  std::optional<passes::KernelOp> op;
  /// Why an operator that multiplies, or whose set has an integer kernel, is kFloat: a sentence.
  std::string reason;
  /// A kernel whose weight stays float while what it reads and gives is quantized (enable_weights_quantization =
  /// false).
  bool float_weight = false;
  /// A kernel whose weight is stored in integers while it computes in float: nothing it reads is quantized for it.
  bool float_operands = false;

  /// It reads integers of activations.
  bool reads_integers() const { return has_kernel() && !float_operands; }
  bool has_kernel() const {
    return role == Role::kKernel || role == Role::kKernelFloatOutput || role == Role::kWeightOnly;
  }
};

/// One role per node, in the order of the graph.
std::vector<NodeRole> find_roles(const Graph& graph, const framework::Attachment& attachment);

/// The platform fixes the parameters of what the node makes, as its integer kernel asks for them. Of an operator that
/// runtimes compute in float nothing asks for any, and its range is chosen as others are.
bool has_fixed_range(const framework::NodeAttachment& attached);

/// It has dilations that say something.
bool is_dilated(const Node& node);

/// A Pad that puts zeros around.
bool pads_with_zeros(const Graph& graph, const Node& node);

/// The inputs of a node that carry values rather than shapes, axes or indices.
std::vector<ValueId> value_inputs(const Node& node, Role role);

}  // namespace tersor::ptq
