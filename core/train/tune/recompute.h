// SPDX-License-Identifier: Apache-2.0
// Activations that are computed again where gradients need them, in the place of being kept from one end of the model
// to the other: memory for time. Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016).
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::tune {

/// `graph` computes values forward with its first nodes, one for each entry of `places` (where in the model each
/// stands, not in order: two models may be side by side), and gradients with those after it. The graph that comes back
/// gives the same bits in `blocks` parts: what gradients read of a part is computed again before the first of them
/// from what later parts read of it; the last part's values are simply there. Values keep their ids.
Graph recomputed_by_block(const Graph& graph, const std::vector<size_t>& places, size_t blocks);

}  // namespace tersor::tune
