// SPDX-License-Identifier: Apache-2.0
// Changes of a graph that several rooms make.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// Every node input that is `from` becomes `to`.
void replace_reads(Graph& graph, ValueId from, ValueId to);

/// Puts the nodes, in their order, before all others.
void prepend(Graph& graph, std::vector<Node> nodes);

}  // namespace tersor
