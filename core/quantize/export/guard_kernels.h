// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime merges a MatMul or Gemm whose float result one Add, Relu or Clip reads with that operator, in float,
// before it looks for integer kernels (matmul_add_fusion.cc), or finds none for it (NodeGroupSelector::GetQDQSelection
// in qdq_selectors.cc). The same written another way keeps the kernel, and every value, as it is:
//
//   MatMul -> Add(b[N])           becomes  MatMul -> Add(b[1,N])     where the product has three axes or more
//   MatMul -> Add                 becomes  Gemm -> Add               where it has two
//   MatMul, Gemm -> Relu          becomes  MatMul, Gemm -> Max(0)
//   MatMul, Gemm -> Clip(lo, hi)  becomes  MatMul, Gemm -> Max(lo) -> Min(hi)
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// In a quantized model: `kernels` have integer kernels with float results. Returns how many were guarded.
int guard_kernels(Model& model, const std::vector<NodeId>& kernels);

}  // namespace tersor::ptq
