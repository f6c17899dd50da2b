// SPDX-License-Identifier: Apache-2.0
// Layers of Keras and PyTorch by the names that the requirement documents give them.
#pragma once

#include <string>
#include <vector>

#include "core/framework/framework_info.h"
#include "core/framework/layer_filter_params.h"

namespace tersor::framework {

/// The ONNX operators that exporters write for a layer, each with the layer's own conditions: Dense is Gemm, and MatMul
/// with a constant. Any other name stands for itself.
std::vector<LayerFilterParams> onnx_operators(const LayerFilterParams& layer);

/// Their types, each once.
std::vector<std::string> onnx_types(const std::string& layer);

/// Where axes of the layer's kernel lie in the ONNX weight: (3, 2) of Conv2D, whose kernel has rows, columns, inputs
/// and outputs, are 0 and 1. Error kInvalidConfig for an axis that the kernel has not.
KernelChannels onnx_axes(const std::string& layer, const KernelChannels& axes, const std::string& place);

}  // namespace tersor::framework
