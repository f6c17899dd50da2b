// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "core/graph/graph.h"

namespace tersor::framework {

/// Where a node's weights are.
struct KernelOperand {
  size_t kernel = 1;           // index into node.inputs: a float32 initializer
  std::optional<size_t> bias;  // likewise, where the operator takes one and the node has it
  bool swap_axes = false;      // the axes of FrameworkInfo::kernel_channels_mapping change places (Gemm, transB = 1)
  bool has_axes = true;        // false: one range for the tensor is all there is (a batched or left operand of MatMul)
};

/// Conv, ConvTranspose, Gemm: operand 1, bias operand 2. MatMul: the constant operand. None for other operators, and
/// where the kernel is no float32 initializer.
std::optional<KernelOperand> kernel_operand(const Graph& graph, const Node& node);

}  // namespace tersor::framework
