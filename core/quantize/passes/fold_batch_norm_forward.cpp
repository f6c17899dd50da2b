// SPDX-License-Identifier: Apache-2.0
// BatchNormalization -> Conv 1x1 | ConvTranspose 1x1 | Gemm  becomes the second alone: with y = s x + t by channel,
//   W[o, i] *= s[i],  b[o] += sum_i W[o, i] t[i].
// A depthwise Conv 1x1 is as good as a BatchNormalization. Neither may pad, for a border is 0 and not t, nobody else
// may read the value in between, and a ConvTranspose must not spread its input, which leaves places that no t reaches.
#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/passes/channel_affine.h"
#include "core/passes/edit.h"
#include "core/passes/kernel_op.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

bool all_are(const Node& node, const char* attribute, int64_t value) {
  const std::vector<int64_t> values = node.ints_or(attribute, {});
  return std::all_of(values.begin(), values.end(), [&](int64_t one) { return one == value; });
}

/// A kernel of one tap pads nothing under any auto_pad.
bool is_pointwise(const Node& node, const KernelOp& op) {
  return op.taps == 1 && all_are(node, "pads", 0);
}

std::optional<ChannelAffine> depthwise(const Graph& graph, const Node& node) {
  const auto op = node.is("Conv") ? kernel_op(graph, node) : std::nullopt;
  if (!op || op->groups != op->inputs || op->outputs != op->inputs || !is_pointwise(node, *op) ||
      !all_are(node, "strides", 1))
    return std::nullopt;
  auto bias = bias_values(graph, *op);
  if (!bias) return std::nullopt;
  return ChannelAffine{to_doubles(*graph.initializer(op->weight)), std::move(*bias)};
}

std::optional<KernelOp> foldable_kernel(const Graph& graph, const Node& node) {
  auto op = kernel_op(graph, node);
  if (!op || !op->can_have_bias || !is_pointwise(node, *op)) return std::nullopt;
  if (node.is("Gemm") && (float_of(node, "alpha") != 1 || float_of(node, "beta") != 1)) return std::nullopt;
  const bool spreads = op->is_transposed && !(all_are(node, "strides", 1) && all_are(node, "output_padding", 0) &&
                                              node.ints_or("output_shape", {}).empty());
  return spreads ? std::nullopt : op;
}

/// Other kernels have the same weight (copy_shared_weights.cpp).
bool is_shared(const Graph& graph, ValueId weight) {
  const Tensor& own = *graph.initializer(weight);
  if (own.is_deferred()) return false;
  return std::any_of(graph.initializers().begin(), graph.initializers().end(), [&](const auto& entry) {
    return entry.first != weight && !entry.second.is_deferred() && entry.second.byte_count() == own.byte_count() &&
           entry.second.byte_count() > 0 && entry.second.bytes().data() == own.bytes().data();
  });
}

bool fold(Graph& graph, const Uses& uses, Node& node, const Node& follower) {
  const auto op = foldable_kernel(graph, follower);
  if (!op || follower.inputs[0] != node.outputs[0]) return false;
  auto affine = normalization(graph, node, op->inputs);
  if (!affine) affine = depthwise(graph, node);
  auto bias = bias_values(graph, *op);
  if (!affine || !bias || affine->scale.size() != static_cast<size_t>(op->inputs)) return false;
  // The weight would be stored once more; factors of its inputs leave nothing that two could share.
  if (is_shared(graph, op->weight)) return false;
  const Tensor& former = *graph.initializer(op->weight);
  std::vector<double> weight = to_doubles(former);
  for (int64_t o = 0; o < op->outputs; ++o) {
    const int64_t first = o / (op->outputs / op->groups) * op->inputs_per_group();
    for (int64_t i = 0; i < op->inputs_per_group(); ++i) {
      const auto channel = static_cast<size_t>(first + i);
      double& one = weight[op->at(o, i, 0)];
      (*bias)[static_cast<size_t>(o)] += one * affine->shift[channel];
      one *= affine->scale[channel];
    }
  }
  const ValueId input = node.inputs[0];
  const NodeId id = node.id;
  node = follower;
  node.id = id;
  node.inputs[0] = input;
  const std::string stem = graph.name_of(op->weight);
  set_constant(graph, uses, node, op->weight_slot, from_doubles(weight, former.shape()), stem);
  set_constant(graph, uses, node, op->bias_slot, from_doubles(*bias, Shape{op->outputs}), stem + "_bias");
  return true;
}

}  // namespace

int fold_batch_norm_forward(Model& model) {
  return fold_followers(model.graph, fold);
}

}  // namespace tersor::passes
