// SPDX-License-Identifier: Apache-2.0
// Quantizes weights of the graph that kernels in the bodies of If, Loop and Scan read. Merged decoders have them: the
// branches with and without a cache share all weights. If only weights are quantized, they are stored in integers and
// restored under their names at the start of the graph; the bodies do not change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// A weight by its name, and the node that represents all its readers.
struct BodyWeight {
  std::string name;
  NodeId node;
  size_t slot = 0;  // index of the weight among the node's inputs
};

/// The kernels in bodies as a model of their own, and the weights that they read.
struct BodyKernels {
  /// Every node stands alone: with its own input, the weight as a constant, and an output.
  Model model;
  std::vector<BodyWeight> weights;  // in the order in which the bodies first read them
};

/// Collects the readers in bodies of float32 initializers of the model: Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU,
/// RNN and Gather, and Transposes in front of a MatMul. Each initializer occurs once, with a kernel if a kernel reads
/// it. Returns nothing if there are none.
std::optional<BodyKernels> kernels_in_bodies(const Model& model);

/// Changes the plan of such a model so that weights are restored whole, as bodies read them: a table before its rows
/// are gathered, blocks before the product.
void restore_whole(QuantizationPlan& plan);

/// Copies into `model` what restores the weights in `applied`, which is apply_plan() of the kernels' model. Returns the
/// names of the weights that are now restored; weights that the plan leaves in float stay.
std::vector<std::string> take_body_weights(Model& model, const Model& applied, const BodyKernels& kernels);

}  // namespace tersor::ptq
