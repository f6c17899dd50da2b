// SPDX-License-Identifier: Apache-2.0
// The operators that multiply by a weight (Conv, ConvTranspose, Gemm, MatMul) seen as one thing, with the place of the
// output channels in the weight:
//
//   y[o] = sum_i W[o, i] x[i] + b[o]
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::passes {

struct KernelOp {
  ValueId weight;
  ValueId bias;  // invalid when absent
  size_t weight_slot = 1;
  size_t bias_slot = 2;  // MatMul has none
  bool can_have_bias = true;
  int64_t groups = 1;
  int64_t outputs = 0;  // output channels
  int64_t inputs = 0;   // input channels, all groups together
  int64_t taps = 1;     // product of the spatial axes of the weight
  int output_axis = 0;  // weight axis that holds output channels (of one group, for ConvTranspose)
  int input_axis = 1;
  bool is_conv = false;        // Conv or ConvTranspose: channels of x and y are axis 1; else the last axis
  bool is_transposed = false;  // ConvTranspose

  /// Where W[o, i, tap] lies in the weight's elements, with o of all outputs and i counted inside o's group.
  size_t at(int64_t o, int64_t i, int64_t tap) const;
  /// Input channels that one output channel reads.
  int64_t inputs_per_group() const { return inputs / groups; }
};

// Called for every element of a weight.
inline size_t KernelOp::at(int64_t o, int64_t i, int64_t tap) const {
  if (is_transposed) {
    const int64_t per_group = outputs / groups;
    const int64_t row = o / per_group * inputs_per_group() + i;
    return static_cast<size_t>((row * per_group + o % per_group) * taps + tap);
  }
  if (is_conv) return static_cast<size_t>((o * inputs_per_group() + i) * taps + tap);
  return static_cast<size_t>(output_axis == 0 ? o * inputs + i : i * outputs + o);
}

/// The node as a kernel operator when it is one whose weight is a float32 initializer of the rank it needs; else none.
/// A MatMul needs a 2-D weight as its second operand; a Gemm must not transpose its first.
std::optional<KernelOp> kernel_op(const Graph& graph, const Node& node);

/// W[o, ...] *= scale[o] in double. The result has the weight's shape.
Tensor scale_outputs(const KernelOp& op, const Tensor& weight, const std::vector<double>& scale);
/// The same; of a deferred weight it is deferred too, and computed whenever it is asked for.
Tensor scale_outputs_when_read(const KernelOp& op, const Tensor& weight, const std::vector<double>& scale);

/// W *= factor in double.
void scale_weight(Graph& graph, const KernelOp& op, double factor);

/// Gives the node the bias, one value per output; as a new initializer where it had none or shares it.
void set_bias(Graph& graph, Node& node, const KernelOp& op, const std::vector<double>& bias);

/// The bias as `outputs` doubles; zeros when absent. None when it is no float constant of one element per output
/// channel: of a convolution a list of them, of a Gemm also a row, or a single element of any rank.
std::optional<std::vector<double>> bias_values(const Graph& graph, const KernelOp& op);

}  // namespace tersor::passes
