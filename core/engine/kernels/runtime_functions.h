// SPDX-License-Identifier: Apache-2.0
// Functions that ONNX Runtime computes by polynomials of its own, to its last bit, on every target alike. `fused`: its
// build rounds a product and the sum after it once.
#pragma once

#include <cstddef>

namespace tersor::kernels {

/// The rational approximation of 1 / (1 + exp(-x)) (onnxruntime core/mlas/lib/logistic.cpp).
void runtime_sigmoid(const float* x, size_t n, bool fused, float* y);
/// That of tanh (core/mlas/lib/tanh.cpp).
void runtime_tanh(const float* x, size_t n, bool fused, float* y);
/// y[k] = exp(x[k] - most), where no x[k] is above `most`, by a polynomial of degree 6; below `lowest` it is as there
/// (core/mlas/lib/compute.cpp, x86_64/TransKernelAvx512F.S and TransKernelFma3.S). y may be x.
void runtime_exponential(const float* x, size_t n, float most, float lowest, bool fused, float* y);

}  // namespace tersor::kernels
