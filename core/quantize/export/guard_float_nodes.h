// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime quantizes the float weight of a Conv, ConvTranspose or Gemm by itself, with one scale for all channels,
// where the node stands between a DequantizeLinear and a QuantizeLinear, or where nodes alone lie between that it moves
// quantizers over or folds away (weight_bias_quantization.cc); a MatMul and the Add after it are a Gemm for it by then
// (matmul_add_fusion.cc). A Sum of one operand before the node, which changes no value, hides the DequantizeLinear
// from it:
//
//   DequantizeLinear -> Conv(W float) -> QuantizeLinear   becomes
//   DequantizeLinear -> Sum -> Conv(W float) -> QuantizeLinear
//
// Other operators that are to stay float get integer kernels there, and the same helps: an AveragePool that has
// dilations and a cubic Resize, which these kernels do not know; a Softmax whose range was chosen, as that kernel is
// right for a scale of 1/256 alone (qlinear_softmax.cc).
//
// A cubic Resize has another trouble: versions before 1.32 carry the Transpose after a convolution of channels last
// over it, and then refuse the file. An Einsum that changes nothing stops them:
//
//   Resize(cubic)   becomes   Einsum(abcd->abcd) -> Resize(cubic)
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// In a quantized model; `softmaxes` and `kernels`: those to stay float, the latter as their weights have a zero point
/// for each channel, which no integer kernel takes. Returns how many nodes were guarded.
int guard_float_nodes(Model& model, const std::vector<NodeId>& softmaxes, const std::vector<NodeId>& kernels = {});

}  // namespace tersor::ptq
