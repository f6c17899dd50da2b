// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::framework {

/// By value index: a mask, or something that a mask was laid on. A mask is a float constant, or a filling, that reaches
/// beyond any activation (the -infinity, lowest float or -1e9 that attention adds before its Softmax); a range
/// that held it would leave nothing of what it is added to.
std::vector<bool> masked_values(const Graph& graph);

}  // namespace tersor::framework
