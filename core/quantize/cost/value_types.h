// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/layout.h"

namespace tersor::cost {

/// By value index; none for constants and for what is not known before the run.
using ValueTypes = std::vector<std::optional<ops::TensorType>>;

/// The type of each value for one sample. Dimensions that the model leaves open are 1 for the batch and 224 (of four
/// axes) or 64. Empty where such sizes do not fit or where shapes depend on the data from the start.
ValueTypes value_types(const Model& model);

}  // namespace tersor::cost
