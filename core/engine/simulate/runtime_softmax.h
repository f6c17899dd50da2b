// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/simulate/profile.h"

namespace tersor::simulate {

/// Softmax of one row in float, or its logarithm, to the bit as the runtime has it: a polynomial of degree 6 for exp,
/// fused but on WebAssembly, and sums by lane of the vectors, 16 lanes with AVX-512 (x64), 8 with AVX2, 4 elsewhere
/// (onnxruntime core/mlas/lib/compute.cpp, x86_64/TransKernelAvx512F.S and TransKernelFma3.S). `y` may be `x`.
void runtime_softmax(Profile profile, std::span<const float> x, bool logarithm, std::span<float> y);

}  // namespace tersor::simulate
