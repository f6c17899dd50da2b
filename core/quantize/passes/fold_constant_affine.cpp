// SPDX-License-Identifier: Apache-2.0
// Conv | ConvTranspose | Gemm -> Add | Sub | Mul | Div by a constant with one value per output channel (or one in all)
// becomes the first alone:
//   Add, Sub: b[o] += c[o], b[o] -= c[o];   Mul, Div: W[o] and b[o] times c[o], or 1 / c[o].
// The constant must not widen the shape, and nobody else may read the value in between.
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

/// The constant as one double per output channel, when it broadcasts along that axis only. `rank` is that of the value
/// it meets, -1 when unknown; `axis_from_end` is where the channels stand, 1 being the last axis.
std::optional<std::vector<double>> per_channel(const Tensor& constant, int rank, int axis_from_end, int64_t channels) {
  const Shape& shape = constant.shape();
  if (constant.elements() == 0 || shape.rank() > rank) return std::nullopt;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool is_channel = shape.rank() - axis == axis_from_end;
    if (shape[axis] != 1 && !(is_channel && shape[axis] == channels)) return std::nullopt;
  }
  std::vector<double> values = to_doubles(constant);
  if (values.size() == 1) values.resize(static_cast<size_t>(channels), double{values[0]});
  for (double value : values)
    if (!std::isfinite(value)) return std::nullopt;
  return values;
}

struct Affine {
  std::vector<double> scale, shift;
};

std::optional<Affine> affine_of(const Graph& graph, const Node& follower, ValueId input, int rank, const KernelOp& op) {
  const bool add = follower.is("Add"), sub = follower.is("Sub"), mul = follower.is("Mul"), div = follower.is("Div");
  if ((!add && !sub && !mul && !div) || follower.inputs.size() != 2) return std::nullopt;
  const bool first = follower.inputs[0] == input;
  if (!first && (sub || div)) return std::nullopt;
  const Tensor* constant = float_constant(graph, follower.inputs[first ? 1 : 0]);
  if (constant == nullptr) return std::nullopt;
  auto values = per_channel(*constant, rank, op.is_conv ? rank - 1 : 1, op.outputs);
  if (!values) return std::nullopt;
  const std::vector<double> ones(values->size(), 1.0), zeros(values->size(), 0.0);
  for (double& value : *values) {
    if (sub) value = -value;
    if (div && value == 0) return std::nullopt;
    if (div) value = 1 / value;
  }
  return add || sub ? Affine{ones, *values} : Affine{*values, zeros};
}

bool fold(Graph& graph, const Uses& uses, Node& node, const Node& follower) {
  const auto op = kernel_op(graph, node);
  if (!op || !op->can_have_bias) return false;
  if (node.is("Gemm") && (float_of(node, "alpha") != 1 || float_of(node, "beta") != 1)) return false;
  const auto bias = bias_values(graph, *op);
  const Tensor& weight = *graph.initializer(op->weight);
  const auto affine = affine_of(graph, follower, node.outputs[0], weight.shape().rank(), *op);
  if (!bias || !affine) return false;
  std::vector<double> folded(bias->size());
  for (size_t c = 0; c < folded.size(); ++c) folded[c] = (*bias)[c] * affine->scale[c] + affine->shift[c];
  const std::string stem = graph.name_of(op->weight);
  if (follower.is("Mul") || follower.is("Div"))
    set_constant(graph, uses, node, op->weight_slot, scale_outputs_when_read(*op, weight, affine->scale), stem);
  set_constant(graph, uses, node, op->bias_slot, from_doubles(folded, Shape{op->outputs}), stem + "_bias");
  node.outputs[0] = follower.outputs[0];
  return true;
}

}  // namespace

int fold_constant_affine(Model& model) {
  return fold_followers(model.graph, fold);
}

}  // namespace tersor::passes
