// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::simulate {

/// A MatMul or plain Gemm of a float tensor and a constant weight [K, N] of 4 or 8 bits (DequantizeLinear in blocks
/// along K, by column, or with one scale), which nothing else reads and whose result is not quantized, as the
/// com.microsoft MatMulNBits that the runtime makes of it (qdq_selectors.cc, DQMatMulNodeGroupSelector), at the
/// runtime's accuracy level 4. None for anything else.
std::optional<Node> matmul_of_few_bits(Graph& graph, const Uses& uses, const Node& matmul);

}  // namespace tersor::simulate
