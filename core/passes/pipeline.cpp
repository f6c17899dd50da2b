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
    // Before anything looks for neighbours: an Identity would hide them.
    {"remove_identities", remove_identities},
    // Before a weight is changed, so that no change reaches another node.
    {"copy_shared_weights", copy_shared_weights},
    // Before the folds below, which need a place for the bias.
    {"join_matmul_add", join_matmul_add},
    // Before the folds below, which assume y = x W + b.
    {"fold_gemm_scalars", fold_gemm_scalars},
    // Older exporters write the bias of a Conv as an Add, in front of the BatchNormalization ...
    {"fold_constant_affine", fold_constant_affine},
    {"fold_batch_norm", fold_batch_norm},
    // ... and some write a scale and a shift of their own behind it.
    {"fold_constant_affine", fold_constant_affine},
    // Last: the others leave constants behind that nobody reads.
    {"remove_unused", remove_unused},
};

}  // namespace

std::span<const Pass> pipeline() {
  return kPasses;
}

std::vector<PassResult> prepare(Model& model, const std::function<void(const Pass&, const Model&)>& after) {
  std::vector<PassResult> results;
  for (const Pass& pass : pipeline()) {
    results.push_back({pass.name, pass.run(model)});
    if (after) after(pass, model);
  }
  return results;
}

}  // namespace tersor::passes
