// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/gemm.h"

#include <algorithm>

namespace tersor::kernels {

Panels pack_matrix(const float* b, int64_t k, int64_t n, bool transposed) {
  return Panels(n, 1, k, {b, transposed ? k : 1, 0, transposed ? 1 : n});
}

void gemm(const float* a, int64_t m, const Panels& b, const Epilogue& epilogue, float* c) {
  const float* pointers[kRowsPerCall];
  for (int64_t first = 0; first < m; first += kRowsPerCall) {
    const int64_t count = std::min(kRowsPerCall, m - first);
    for (int64_t r = 0; r < count; ++r) pointers[r] = a + (first + r) * b.depth();
    multiply_rows(b, {pointers, count}, epilogue, c + first * b.columns(), b.columns());
  }
}

}  // namespace tersor::kernels
