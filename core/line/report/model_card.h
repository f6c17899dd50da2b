// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/graph/graph.h"
#include "core/onnx/model_info.h"

namespace tersor::report {

/// What a person wants to know of a model, with what only the engine knows: which operators run, multiply-adds of one
/// sample and the peak of its activations (absent where a shape is not known beforehand).
onnx::ModelInfo describe(const Model& model, std::span<const std::byte> file);
/// The same for who knows the file's SHA-256 already.
onnx::ModelInfo describe(const Model& model, std::span<const std::byte> file, std::string sha256);

}  // namespace tersor::report
