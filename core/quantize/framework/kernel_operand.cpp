// SPDX-License-Identifier: Apache-2.0
#include "core/framework/kernel_operand.h"

#include "core/graph/attribute_defaults.h"
#include "core/graph/operators.h"

namespace tersor::framework {

namespace {

const Tensor* float_constant(const Graph& graph, const Node& node, size_t slot) {
  if (slot >= node.inputs.size() || !node.inputs[slot].valid()) return nullptr;
  const Tensor* tensor = graph.initializer(node.inputs[slot]);
  return tensor != nullptr && tensor->dtype() == DType::kFloat32 ? tensor : nullptr;
}

}  // namespace

std::optional<KernelOperand> kernel_operand(const Graph& graph, const Node& node) {
  KernelOperand operand;
  if (node.is("MatMul")) {
    const Tensor* right = float_constant(graph, node, 1);
    if (right == nullptr && float_constant(graph, node, 0) == nullptr) return std::nullopt;
    operand.kernel = right != nullptr ? 1 : 0;
    operand.has_axes = right != nullptr && right->shape().rank() == 2;
    return operand;
  }
  if (!has_trait(node, Trait::kWeighted)) return std::nullopt;
  if (float_constant(graph, node, 1) == nullptr) return std::nullopt;
  if (float_constant(graph, node, 2) != nullptr) operand.bias = 2;
  operand.swap_axes = node.is("Gemm") && int_of(node, "transB") != 0;
  return operand;
}

}  // namespace tersor::framework
