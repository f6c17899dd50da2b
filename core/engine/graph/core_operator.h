// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"

namespace tersor {

/// Conv, ConvTranspose, Gemm or MatMul: where nearly all of a model's work is.
inline bool is_core(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul");
}

}  // namespace tersor
