// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::framework {

/// By value index: what something is divided by, or whose logarithm or negative power is taken, and what that alone is
/// computed from, up to a product of weights or a sum over the channels: the variance and its root in a
/// LayerNormalization written in parts, the length of a vector. Steps of one size round its small values to 0, and what
/// is divided by that is infinite.
std::vector<bool> divisor_values(const Graph& graph);

}  // namespace tersor::framework
