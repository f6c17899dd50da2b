// SPDX-License-Identifier: Apache-2.0
// Keeps the integer kernels of MatMul and Gemm nodes with a float result.
//
// If a single Add, Relu or Clip reads the float result, ONNX Runtime merges it with the kernel in float before it looks
// for integer kernels (matmul_add_fusion.cc). Or it finds no integer kernel for it (NodeGroupSelector::GetQDQSelection
// in qdq_selectors.cc). An equivalent form keeps the kernel and every value:
//
//   MatMul -> Add(b[N])           becomes  MatMul -> Add(b[1,N])     for a product of three or more axes
//   MatMul -> Add                 becomes  Gemm -> Add               for a product of two axes
//   MatMul, Gemm -> Relu          becomes  MatMul, Gemm -> Max(0)
//   MatMul, Gemm -> Clip(lo, hi)  becomes  MatMul, Gemm -> Max(lo) -> Min(hi)
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Guards a quantized model, in which `kernels` are integer kernels with float results. Returns the number of guarded
/// nodes.
int guard_kernels(Model& model, const std::vector<NodeId>& kernels);

}  // namespace tersor::ptq
