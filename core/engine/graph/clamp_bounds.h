// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/graph/graph.h"

namespace tersor {

/// y = min(max(x, low), high).
struct ClampBounds {
  double low = 0;
  double high = 0;
};

/// The bounds of a Relu, or of a Clip whose bounds are attributes or float32 constants, in order; none for other
/// operators.
std::optional<ClampBounds> clamp_bounds(const Graph& graph, const Node& node);

}  // namespace tersor
