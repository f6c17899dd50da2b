// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/tflite/network.h"

namespace tersor::tflite {

/// Every tensor of the network for these inputs, which have the types and shapes of the file's, as TensorFlow Lite
/// Micro computes them; by tensor, constants included. Error kInvalidSamples where an input does not fit,
/// kInvalidModel or kUnsupportedModel with the operator's place.
std::vector<Tensor> interpret(const Network& network, std::span<const Tensor> inputs);

/// The same of floats in the file's layout, which are quantized as a QUANTIZE operator does, and of integer outputs in
/// real numbers.
std::vector<Tensor> interpret_floats(const Network& network, std::span<const Tensor> inputs);

}  // namespace tersor::tflite
