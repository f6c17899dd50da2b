// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::framework {

/// By value index: a mask, or something that a mask was laid on; a range that held both would leave nothing of what the
/// mask is laid on. A mask is a float constant, or a filling,
///   - that reaches beyond any activation (-infinity, the lowest float, -1e9), or
///   - that is large enough for a Softmax to give 0 there (-10000, -100), where Softmax alone reads what it is laid on.
std::vector<bool> masked_values(const Graph& graph);

}  // namespace tersor::framework
