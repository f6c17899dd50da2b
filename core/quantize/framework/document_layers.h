// SPDX-License-Identifier: Apache-2.0
// Layers of Keras and PyTorch by the names that the requirement documents give them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/framework/layer_filter_params.h"

namespace tersor::framework {

/// The ONNX operators that exporters write for a layer, each with the layer's own conditions: Dense is Gemm, and MatMul
/// with a constant. Any other name stands for itself.
std::vector<LayerFilterParams> onnx_operators(const LayerFilterParams& layer);

/// Their types, each once.
std::vector<std::string> onnx_types(const std::string& layer);

/// Where an axis of the layer's kernel lies in the ONNX weight: (3, 2) of Conv2D, whose kernel has rows, columns,
/// inputs and outputs, are 0 and 1. Error kInvalidConfig for an axis that the kernel has not.
std::optional<int> onnx_axis(const std::string& layer, std::optional<int> axis, const std::string& place);

}  // namespace tersor::framework
