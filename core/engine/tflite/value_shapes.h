// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/tflite/axis_order.h"

namespace tersor::tflite {

/// By value, the shape for one sample, where it is known before the model runs; none where an input has a free
/// dimension beside its batch. Errors of run::Program::compile().
std::optional<std::vector<std::optional<Dims>>> value_shapes(const Model& model);

}  // namespace tersor::tflite
