// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernels/multiply_rows.h"

namespace tersor::kernels {

/// B of a matrix product, [k, n] row-major, or [n, k] where `transposed`.
Panels pack_matrix(const float* b, int64_t k, int64_t n, bool transposed);

/// C[m, n] = epilogue(A[m, k] B[k, n]), all row-major; each element summed over k from first to last.
void gemm(const float* a, int64_t m, const Panels& b, const Epilogue& epilogue, float* c);

}  // namespace tersor::kernels
