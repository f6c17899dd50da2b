// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "core/graph/graph.h"
#include "core/onnx/source.h"

namespace tersor::tflite {

/// The bytes begin as a .tflite file.
bool is_tflite(std::span<const std::byte> bytes);

/// The model of a file, ONNX or .tflite by its first bytes: a float .tflite file in ONNX's operators (raise.h), an int8
/// one as it computes (integer_model.h). Errors of onnx::read(), read() and raise().
Model read_model(const onnx::Source& source, const onnx::ExternalData& external = {});

/// Of a .tflite file.
Model read_tflite(const onnx::Source& source);

}  // namespace tersor::tflite
