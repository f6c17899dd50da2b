// SPDX-License-Identifier: Apache-2.0
// The rewrites that prepare a float graph for quantization. Each is a function of its own file that rewrites the model
// in place, keeps what it computes (within rounding), keeps names of graph inputs and outputs, and returns how many
// places it changed. pipeline.h runs them in their order.
#pragma once

#include <map>
#include <string>

#include "core/graph/graph.h"

namespace tersor::passes {

int fold_constants(Model& model);
int inline_constant_if(Model& model);
int lift_body_weights(Model& model);
int remove_identities(Model& model);
int join_matmul_add(Model& model);
int fold_gemm_scalars(Model& model);
int fold_constant_affine(Model& model);
int fold_batch_norm(Model& model);
int fold_batch_norm_forward(Model& model);
int collapse_linear(Model& model);
int collapse_residual(Model& model);
int copy_shared_weights(Model& model);
int remove_unused(Model& model);
/// Not part of the pipeline: the nodes of these branches of Ifs (by label_of(); true: then_branch) stand before the If,
/// and the branch passes on what they make. Same results where the branch is taken; elsewhere they run in vain.
/// export/sink_branches.h undoes it.
int hoist_branches(Model& model, const std::map<std::string, bool>& taken);
/// Not part of the pipeline: for a model that is quantized already.
int share_equal_constants(Model& model);

}  // namespace tersor::passes
