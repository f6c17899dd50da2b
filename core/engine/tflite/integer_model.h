// SPDX-License-Identifier: Apache-2.0
// An int8 .tflite file as a model that is looked at, run and compared as any other. Its operators are nodes of the
// domain kTfliteDomain (operators.h), which compute the file's integers; inputs and outputs are real numbers, as
// samples are.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/quantized.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

/// The file's own inputs and outputs, with channels last. Error kInvalidModel where two operators write one tensor.
Model integer_model(const Network& network);

/// The model computes as TensorFlow Lite Micro does.
inline bool is_integer_model(const Model& model) {
  return model.opset(kTfliteDomain) != 0;
}

/// The same model with the inputs and outputs of the one that it was made from: their names, types and order of axes. A
/// DequantizeLinear that nothing reads shows each tensor that has the name of one of `reference`, with its axes in the
/// order that they have there; what lies in an order that cannot be told is left out. Other models stay as they are.
/// Error kMismatch where inputs or outputs are none of the reference's.
Model as_made_from(Model integers, const Model& reference);

/// What the .tflite file of a model with QuantizeLinear and DequantizeLinear computes, with the inputs and outputs of
/// that. Errors of lower().
Model lowered_model(const Model& quantized);

/// Each operator of the network is run here.
bool runs_here(const Network& network);

}  // namespace tersor::tflite
