// SPDX-License-Identifier: Apache-2.0
// Gemm: alpha goes into the weight, beta into the bias, and the bias becomes one value per output channel, so that
// y = x W + b is all that is left. (ONNX Runtime 1.21 computes a quantized Gemm with alpha other than 1 wrongly.)
#include "core/graph/attribute_defaults.h"
#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool normalize(Graph& graph, const Uses& uses, Node& node) {
  const auto op = kernel_op(graph, node);
  if (!op || !node.is("Gemm")) return false;
  const double alpha = float_of(node, "alpha"), beta = float_of(node, "beta");
  auto bias = bias_values(graph, *op);
  if (!bias) return false;
  const bool wide = op->bias.valid() && graph.initializer(op->bias)->shape() != Shape{op->outputs};
  if (alpha == 1 && beta == 1 && !wide) return false;
  const std::string stem = graph.name_of(op->weight);
  if (alpha != 1) {
    const std::vector<double> scale(static_cast<size_t>(op->outputs), alpha);
    set_constant(graph, uses, node, op->weight_slot,
                 scale_outputs_when_read(*op, *graph.initializer(op->weight), scale), stem);
  }
  if (op->bias.valid() && (beta != 1 || wide)) {
    for (double& value : *bias) value *= beta;
    set_constant(graph, uses, node, op->bias_slot, from_doubles(*bias, Shape{op->outputs}), stem + "_bias");
  }
  node.attributes.erase("alpha");
  node.attributes.erase("beta");
  return true;
}

}  // namespace

int fold_gemm_scalars(Model& model) {
  const Uses uses(model.graph);
  int changed = 0;
  // A constant made for one node has a new id, which the picture of the uses does not know: nodes are visited once
  // each.
  for (Node& node : model.graph.nodes()) changed += normalize(model.graph, uses, node) ? 1 : 0;
  return changed;
}

}  // namespace tersor::passes
