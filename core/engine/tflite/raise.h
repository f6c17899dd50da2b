// SPDX-License-Identifier: Apache-2.0
// A float .tflite file as a model in ONNX's operators, so that it is looked at, run and quantized as any other. Images
// keep their channels last at the model's inputs and outputs; between convolutions they have them first.
#pragma once

#include "core/graph/graph.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

/// Weights of float16 become float32. Error kUnsupportedModel, with the operator's place, for a file that is quantized
/// and for operators that have no counterpart here.
Model raise(const Network& network);

}  // namespace tersor::tflite
