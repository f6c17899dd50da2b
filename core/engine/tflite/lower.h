// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

/// The model in TensorFlow Lite's operators. Pictures lie with their channels last: transposes are moved until they
/// cancel, and constants are rearranged. What stands between a DequantizeLinear and a QuantizeLinear becomes an
/// operator on integers, everything else one on floats. A free batch becomes 1. Error kUnsupportedModel naming the
/// first node that has no such operator, with what would make it possible. `keeps_codes`: int8 weights of operators on
/// floats stay int8 behind a DEQUANTIZE, which TensorFlow Lite computes once and TensorFlow Lite Micro not by channel;
/// else they become floats.
Network lower(const Model& model, bool keeps_codes = false);

}  // namespace tersor::tflite
