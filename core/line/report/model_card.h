// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/graph/graph.h"
#include "core/onnx/model_info.h"

namespace tersor::report {

/// Describes a model for the user, including facts that only the engine knows: which operators run, the multiply-adds
/// of a sample and the peak of its activations. The last two are absent if a shape is not known in advance.
onnx::ModelInfo describe(const Model& model, std::span<const std::byte> file);
/// The same, if the file's SHA-256 is known.
onnx::ModelInfo describe(const Model& model, std::span<const std::byte> file, std::string sha256);

}  // namespace tersor::report
