// SPDX-License-Identifier: Apache-2.0
// Conv -> Conv 1x1 with nothing in between becomes one Conv,
//   W[o, i, tap] = sum_m W2[o, m] W1[m, i, tap],  b[o] = b2[o] + sum_m W2[o, m] b1[m],
// where that saves weights. Both have stride and dilation 1 and one group, the second pads nothing, and nobody else
// reads the value in between. The padding is that of the first.
#include <algorithm>

#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool all_are(const Node& node, const char* attribute, int64_t value) {
  const std::vector<int64_t> values = node.ints_or(attribute, {});
  return std::all_of(values.begin(), values.end(), [&](int64_t one) { return one == value; });
}

/// The node as a Conv that takes every position of its input in turn.
std::optional<KernelOp> plain_conv(const Graph& graph, const Node& node) {
  auto op = node.is("Conv") ? kernel_op(graph, node) : std::nullopt;
  const bool plain = op && op->groups == 1 && all_are(node, "strides", 1) && all_are(node, "dilations", 1);
  return plain ? op : std::nullopt;
}

/// A 1x1 kernel pads nothing under any auto_pad.
bool is_pointwise(const Node& node, const KernelOp& op) {
  return op.taps == 1 && all_are(node, "pads", 0);
}

Tensor product(const KernelOp& first, const Tensor& w1, const KernelOp& second, const Tensor& w2) {
  const std::vector<double> before = to_doubles(w1), after = to_doubles(w2);
  const auto row = static_cast<size_t>(first.inputs * first.taps), middle = static_cast<size_t>(first.outputs);
  std::vector<double> joined(static_cast<size_t>(second.outputs) * row, 0.0);
  for (size_t o = 0; o < static_cast<size_t>(second.outputs); ++o)
    for (size_t m = 0; m < middle; ++m)
      for (size_t k = 0; k < row; ++k) joined[o * row + k] += after[o * middle + m] * before[m * row + k];
  std::vector<int64_t> dims = w1.shape().dims();
  dims[0] = second.outputs;
  return from_doubles(joined, Shape(std::move(dims)));
}

bool collapse(Graph& graph, const Uses& uses, Node& node, const Node& follower) {
  const auto first = plain_conv(graph, node), second = plain_conv(graph, follower);
  if (!first || !second || !is_pointwise(follower, *second) || follower.inputs[0] != node.outputs[0]) return false;
  const int64_t row = first->inputs * first->taps;
  if (second->inputs != first->outputs ||
      second->outputs * row > first->outputs * row + second->outputs * first->outputs)
    return false;
  const auto before = bias_values(graph, *first), after = bias_values(graph, *second);
  if (!before || !after) return false;
  const Tensor& w2 = *graph.initializer(second->weight);
  const std::vector<double> mix = to_doubles(w2);
  std::vector<double> bias = *after;
  for (size_t o = 0; o < bias.size(); ++o)
    for (size_t m = 0; m < before->size(); ++m) bias[o] += mix[o * before->size() + m] * (*before)[m];
  const std::string stem = graph.name_of(first->weight);
  Tensor weight = product(*first, *graph.initializer(first->weight), *second, w2);
  set_constant(graph, uses, node, first->weight_slot, std::move(weight), stem);
  if (first->bias.valid() || second->bias.valid())
    set_constant(graph, uses, node, first->bias_slot, from_doubles(bias, Shape{second->outputs}), stem + "_bias");
  node.outputs[0] = follower.outputs[0];
  return true;
}

}  // namespace

int collapse_linear(Model& model) {
  return fold_followers(model.graph, collapse);
}

}  // namespace tersor::passes
