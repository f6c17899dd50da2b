// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "core/graph/graph.h"

namespace tersor::simulate {

/// A product and the Add of a bias that alone reads it, of which a runtime makes one Gemm.
struct JoinedBias {
  NodeId add;
  ValueId bias;
  /// A Relu or Clip follows a product of other than two axes: the runtime's Reshape then stands between the two, and no
  /// quantizer is found after the Gemm.
  bool in_float = false;
};

/// By MatMul: those that ONNX Runtime joins before it looks for integer kernels (matmul_add_fusion.cc), where it knows
/// the product to have two axes or knows its shape. To be asked before clamps are dropped.
std::map<NodeId, JoinedBias> joined_biases(const Model& model);

}  // namespace tersor::simulate
