// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace tersor::onnx {

/// The newest operator set that convert_to_opset() can write; 21 is the first with integers of 4 and 16 bits.
inline constexpr int64_t kNewestTarget = 21;
/// The oldest that a quantized file is written in: QuantizeLinear per axis.
inline constexpr int64_t kUsualTarget = 13;

/// The least IR version that goes with an operator set; runtimes refuse files of newer ones than they know.
int64_t ir_version_for(int64_t opset);

/// Raises a model to `target` (7 to 21), subgraphs included, so that it computes the same:
/// operators whose form changed in between are rewritten, and the IR version is raised to one that fits. Never lowers:
/// false, and nothing done, when the model has that version or a newer one. What could not be kept exactly is in
/// Model::warnings.
///
/// Error kInvalidArgument: a target out of range. kUnsupportedModel: a node has no equal in the newer set.
bool convert_to_opset(Model& model, int64_t target = kUsualTarget);

}  // namespace tersor::onnx
