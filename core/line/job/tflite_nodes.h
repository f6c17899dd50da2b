// SPDX-License-Identifier: Apache-2.0
// Which nodes a .tflite file computes in integers. Runtimes of ONNX files compute some of them in float, LSTMs say,
// whose weights the writer of the file quantizes.
#pragma once

#include <vector>

#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor {

/// The graph has an LSTM in integers, so that there is something to quantize without any other kernel.
bool has_integer_lstm(const Graph& graph, const ptq::Placement& placement);

/// Before the file is there: of a graph whose quantizers are placed, with what is known of each node.
std::vector<NodeId> expected_integer_nodes(const Graph& graph, const ptq::Placement& placement,
                                           const std::vector<ptq::NodeOutcome>& outcomes);

/// Says so in the outcomes of the nodes that would be in float.
void take_integer_nodes(const std::vector<NodeId>& nodes, std::vector<ptq::NodeOutcome>& outcomes);

}  // namespace tersor
