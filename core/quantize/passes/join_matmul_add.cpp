// SPDX-License-Identifier: Apache-2.0
// MatMul(x, W) -> Add(b)  becomes  Gemm(x, W, b)  when x has two axes, W is a constant matrix and b has one value per
// output channel: the bias then is added inside the integer kernel. Nobody else may read the value in between.
#include "core/graph/ranks.h"
#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool join(Graph& graph, const Uses& uses, Node& node, const Node& follower) {
  const auto op = kernel_op(graph, node);
  if (!op || !node.is("MatMul") || !follower.is("Add") || follower.inputs.size() != 2) return false;
  const ValueId other = follower.inputs[follower.inputs[0] == node.outputs[0] ? 1 : 0];
  const Tensor* bias = float_constant(graph, other);
  if (bias == nullptr || bias->shape().rank() > 2) return false;
  const Shape& shape = bias->shape();
  const bool row = bias->elements() == op->outputs && (shape.rank() == 1 || shape[0] == 1) && shape.rank() > 0;
  if (!row && bias->elements() != 1) return false;
  std::vector<double> values = to_doubles(*bias);
  if (values.size() == 1) values.resize(static_cast<size_t>(op->outputs), double{values[0]});
  node.op_type = "Gemm";
  if (shape == Shape{op->outputs} && uses.reader_count(other) == 1) {
    node.inputs.resize(3);
    node.inputs[2] = other;
  } else {
    set_constant(graph, uses, node, 2, from_doubles(values, Shape{op->outputs}), graph.name_of(other));
  }
  node.outputs[0] = follower.outputs[0];
  return true;
}

}  // namespace

int join_matmul_add(Model& model) {
  const std::vector<int> ranks = infer_ranks(model);
  return fold_followers(model.graph, [&](Graph& graph, const Uses& uses, Node& node, const Node& follower) {
    const ValueId x = node.inputs.empty() ? ValueId{} : node.inputs[0];
    return x.valid() && ranks[static_cast<size_t>(x.index)] == 2 && join(graph, uses, node, follower);
  });
}

}  // namespace tersor::passes
