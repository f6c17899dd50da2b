// SPDX-License-Identifier: Apache-2.0
// Weights of the graph that kernels in the bodies of If, Loop and Scan read, as merged decoders have them: the branch
// with a cache and the one without share all of them. Where weights alone are quantized, they are stored in integers
// and restored under their names before everything, and the bodies stay as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// One weight, by its name, and the node that stands for those that read it.
struct BodyWeight {
  std::string name;
  NodeId node;
  size_t slot = 0;  // of the node's inputs
};

struct BodyKernels {
  /// Each node by itself: an input of its own, the weight as a constant, an output.
  Model model;
  std::vector<BodyWeight> weights;  // in the order in which the bodies read them first
};

/// Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU, RNN and Gather that read a float32 initializer of the model from
/// within a body, and Transposes before a MatMul; each initializer once, by a kernel where one reads it. None where
/// there is no such.
std::optional<BodyKernels> kernels_in_bodies(const Model& model);

/// The plan of such a model with whole weights restored, as bodies read them: tables before rows are gathered, blocks
/// before the product.
void restore_whole(QuantizationPlan& plan);

/// Puts what restores the weights in `applied`, which is apply_plan() of the kernels' model, into the model. Returns
/// the names of the weights that are restored now; those that the plan leaves in float stay.
std::vector<std::string> take_body_weights(Model& model, const Model& applied, const BodyKernels& kernels);

}  // namespace tersor::ptq
