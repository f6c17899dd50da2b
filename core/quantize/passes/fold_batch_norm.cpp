// SPDX-License-Identifier: Apache-2.0
// Conv | ConvTranspose | Gemm -> BatchNormalization  becomes the first alone, with
//   s = gamma / sqrt(var + epsilon),  W[o] *= s[o],  b[o] = beta[o] + (b[o] - mean[o]) * s[o].
// Needs constant float parameters, inference mode, and that nobody else reads the value in between.
#include "core/graph/attribute_defaults.h"
#include "core/passes/channel_affine.h"
#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool fold(Graph& graph, const Uses& uses, Node& node, const Node& follower) {
  const auto op = kernel_op(graph, node);
  if (!op || !op->can_have_bias || follower.inputs[0] != node.outputs[0]) return false;
  if (node.is("Gemm") && (float_of(node, "alpha") != 1 || float_of(node, "beta") != 1)) return false;
  const auto bias = bias_values(graph, *op);
  const auto normal = normalization(graph, follower, op->outputs);
  if (!bias || !normal) return false;
  std::vector<double> folded(bias->size());
  for (size_t c = 0; c < folded.size(); ++c) folded[c] = (*bias)[c] * normal->scale[c] + normal->shift[c];
  const std::string stem = graph.name_of(op->weight);
  Tensor weight = scale_outputs_when_read(*op, *graph.initializer(op->weight), normal->scale);
  set_constant(graph, uses, node, op->weight_slot, std::move(weight), stem);
  set_constant(graph, uses, node, op->bias_slot, from_doubles(folded, Shape{op->outputs}), stem + "_bias");
  node.outputs[0] = follower.outputs[0];
  return true;
}

}  // namespace

int fold_batch_norm(Model& model) {
  return fold_followers(model.graph, fold);
}

}  // namespace tersor::passes
