// SPDX-License-Identifier: Apache-2.0
// Changes of a graph that several rooms make.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// Puts the nodes, in their order, before all others.
void prepend(Graph& graph, std::vector<Node> nodes);

}  // namespace tersor
