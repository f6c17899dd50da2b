// SPDX-License-Identifier: Apache-2.0
// Nodes that cannot be run here, and all that follow from them: they are left out of the model that is calibrated and
// judged, and the quantized file has them as they were.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::onnx {

struct LeftOut {
  std::vector<Node> nodes;  // in their order
  std::vector<std::pair<ValueId, Tensor>> constants;
  std::vector<ValueId> outputs;  // of the graph, before
  bool has_kernels = false;      // with a constant weight
};

/// Takes the nodes and what follows from them out of the model; what they read of the rest becomes an output. None, and
/// nothing changed, where no kernel with a constant weight is left, or the model has floats of 16 bits, whose type
/// they would not find again.
std::optional<LeftOut> leave_out(Model& model, const std::set<NodeId>& nodes);

/// Puts them back into the model or into what was made of it.
void put_back(const LeftOut& left_out, Graph& graph);

}  // namespace tersor::onnx
