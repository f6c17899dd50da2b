// SPDX-License-Identifier: Apache-2.0
// LSTMs of a .tflite file. Runtimes of ONNX files compute them in float; TensorFlow Lite's compute them in integers
// where their inputs and outputs are quantized, and take weights that the writer of the file quantizes.
#pragma once

#include <vector>

#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor {

/// The graph has such an LSTM, so that there is something to quantize without any other kernel.
bool has_integer_lstm(const Graph& graph, const ptq::Placement& placement);

/// Says so in their outcomes, of which there is one for each node.
void take_integer_lstms(const Graph& graph, const ptq::Placement& placement, std::vector<ptq::NodeOutcome>& outcomes);

}  // namespace tersor
