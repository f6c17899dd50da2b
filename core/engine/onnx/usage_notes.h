// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/graph/graph.h"

namespace tersor::onnx {

/// Code of the remark that an exporter left nodes in training mode.
inline constexpr std::string_view kTrainingMode = "training_mode";

/// Remarks on nodes whose results are not the same in every run: those that draw random numbers, and BatchNormalization
/// and Dropout in training mode; in bodies too. What is made of constants alone does not count.
std::vector<Diagnostic> usage_notes(const Graph& graph);

/// Has BatchNormalization and Dropout that are in training mode take what they learnt, and takes kTrainingMode from the
/// model's warnings. A BatchNormalization whose running statistics are read stays as it is. Returns how many were set.
size_t set_inference_mode(Model& model);

}  // namespace tersor::onnx
