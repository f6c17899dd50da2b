// SPDX-License-Identifier: Apache-2.0
// Conv -> Add of the Conv's own input becomes the Conv alone: W[c, c, centre] += 1. Needs stride 1, an odd kernel
// padded so that the size stays, one group, as many outputs as inputs, and that nobody else reads the value in between.
#include "core/graph/attribute_defaults.h"
#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

/// The tap that lies on the position itself, when the kernel has one and the output has the input's size; else none.
std::optional<int64_t> centre_of(const Node& node, const Shape& weight) {
  const auto axes = static_cast<size_t>(weight.rank()) - 2;
  const auto strides = node.ints_or("strides", std::vector<int64_t>(axes, 1));
  const auto dilations = node.ints_or("dilations", std::vector<int64_t>(axes, 1));
  const auto pads = node.ints_or("pads", std::vector<int64_t>(2 * axes, 0));
  const std::string padding = string_of(node, "auto_pad");
  const bool same = padding == "SAME_UPPER" || padding == "SAME_LOWER";
  if (strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes) return std::nullopt;
  int64_t centre = 0;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t size = weight[static_cast<int>(a) + 2], reach = (size - 1) / 2 * dilations[a];
    if (strides[a] != 1 || size % 2 == 0) return std::nullopt;
    const bool keeps_size = padding == "NOTSET" ? pads[a] == reach && pads[axes + a] == reach : same || reach == 0;
    if (!keeps_size) return std::nullopt;
    centre = centre * size + (size - 1) / 2;
  }
  return centre;
}

bool collapse(Graph& graph, const Uses& uses, Node& node, const Node& follower) {
  if (!node.is("Conv") || !follower.is("Add") || follower.inputs.size() != 2) return false;
  const auto op = kernel_op(graph, node);
  if (!op || op->groups != 1 || op->outputs != op->inputs) return false;
  if (follower.inputs[follower.inputs[0] == node.outputs[0] ? 1 : 0] != node.inputs[0]) return false;
  const Tensor& weight = *graph.initializer(op->weight);
  const auto centre = centre_of(node, weight.shape());
  if (!centre) return false;
  std::vector<double> values = to_doubles(weight);
  for (int64_t c = 0; c < op->outputs; ++c) values[op->at(c, c, *centre)] += 1;
  set_constant(graph, uses, node, op->weight_slot, from_doubles(values, weight.shape()), graph.name_of(op->weight));
  node.outputs[0] = follower.outputs[0];
  return true;
}

}  // namespace

int collapse_residual(Model& model) {
  return fold_followers(model.graph, collapse);
}

}  // namespace tersor::passes
