// SPDX-License-Identifier: Apache-2.0
#include "core/passes/pipeline.h"

#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

constexpr Pass kPasses[] = {
    // First, so that every later pass finds weights, bounds and shapes as initializers.
    {"fold_constants", fold_constants},
    // Once conditions are constants, and before all else: a branch's layers are then layers like any other.
    {"inline_constant_if", inline_constant_if},
    // Of the bodies that are left, before weights are looked at.
    {"lift_body_weights", lift_body_weights},
    // Before anything looks for neighbours: an Identity would hide them.
    {"remove_identities", remove_identities},
    // Before a weight is changed, so that no change reaches another node.
    {"copy_shared_weights", copy_shared_weights},
    // Before the folds below, which need a place for the bias.
    {"join_matmul_add", join_matmul_add},
    // Before the folds below, which assume y = x W + b.
    {"fold_gemm_scalars", fold_gemm_scalars},
    // Older exporters write the bias of a Conv as an Add, before the BatchNormalization ...
    {"fold_constant_affine", fold_constant_affine},
    {"fold_batch_norm", fold_batch_norm},
    // ... and some write a scale and a shift of their own after it.
    {"fold_constant_affine", fold_constant_affine},
    // Of those that are left, what stands before a kernel of one tap.
    {"fold_batch_norm_forward", fold_batch_norm_forward},
    // Once nothing stands between two convolutions any more.
    {"linear_collapsing", collapse_linear, &OptionalPasses::linear_collapsing},
    {"residual_collapsing", collapse_residual, &OptionalPasses::residual_collapsing},
    // Last: the others leave constants behind that nobody reads.
    {"remove_unused", remove_unused},
};

/// The nodes of `before` that `after` has no more, each by its name or that of its first output.
std::vector<std::string> lost_nodes(const Graph& before, const Graph& after) {
  std::vector<std::string> names;
  for (const Node& node : before.nodes())
    if (after.find(node.id) == nullptr) names.push_back(before.label_of(node));
  return names;
}

}  // namespace

std::span<const Pass> pipeline() {
  return kPasses;
}

std::vector<PassResult> prepare(Model& model, const OptionalPasses& optional,
                                const std::function<void(const Pass&, const Model&)>& after) {
  std::vector<PassResult> results;
  for (const Pass& pass : pipeline()) {
    if (pass.wanted != nullptr && !(optional.*pass.wanted)) continue;
    const Graph before = pass.wanted != nullptr ? model.graph : Graph();
    results.push_back({pass.name, pass.run(model)});
    results.back().gone = lost_nodes(before, model.graph);
    if (after) after(pass, model);
  }
  return results;
}

}  // namespace tersor::passes
