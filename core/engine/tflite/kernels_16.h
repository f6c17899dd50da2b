// SPDX-License-Identifier: Apache-2.0
// Kernels on 16-bit activations, with weights of 8 bits and sums of 64 ("16x8"). Their zero points are 0.
#pragma once

#include "core/tflite/kernels.h"

namespace tersor::tflite {

/// TensorFlow Lite Micro has the operator for int16, and it is run here.
bool runs_on_16_bits(Code code);

/// As evaluate(), of an int16 first input.
Tensor evaluate_16(const KernelCall& call);

}  // namespace tersor::tflite
