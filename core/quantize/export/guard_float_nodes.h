// SPDX-License-Identifier: Apache-2.0
// Prevents ONNX Runtime from quantizing nodes that must stay float.
//
// ONNX Runtime itself quantizes the float weight of a Conv, ConvTranspose or Gemm, with a single scale for all channels
// (weight_bias_quantization.cc). It does so if the node stands between a DequantizeLinear and a QuantizeLinear. Nodes
// that it moves quantizers over or folds away may lie in between. At that point it has already turned a MatMul with an
// Add into a Gemm (matmul_add_fusion.cc). A Sum with a single operand in front of the node changes no value but hides
// the DequantizeLinear:
//
//   DequantizeLinear -> Conv(W float) -> QuantizeLinear   becomes
//   DequantizeLinear -> Sum -> Conv(W float) -> QuantizeLinear
//
// The same guard protects other operators that would get integer kernels there. An AveragePool with dilations and a
// cubic Resize are not supported by these kernels. A Softmax whose range was chosen does not fit its kernel, which is
// right only for a scale of 1/256 (qlinear_softmax.cc).
//
// A cubic Resize needs a second guard. Versions before 1.32 move the Transpose behind a channels-last convolution over
// it, and then refuse the file. An Einsum that changes nothing stops them:
//
//   Resize(cubic)   becomes   Einsum(abcd->abcd) -> Resize(cubic)
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Guards a quantized model and returns the number of guarded nodes. `softmaxes` and `kernels` must stay float;
/// `kernels` because their weights have a zero point per channel, which no integer kernel takes.
int guard_float_nodes(Model& model, const std::vector<NodeId>& softmaxes, const std::vector<NodeId>& kernels = {});

}  // namespace tersor::ptq
