// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/graph/graph.h"

namespace tersor::ops {

/// What a node Constant gives; null for the kinds that the engine does not know: sparse ones and strings by attribute.
std::optional<Tensor> constant_value(const Node& node);

}  // namespace tersor::ops
