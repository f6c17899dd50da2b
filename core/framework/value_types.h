// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::framework {

/// The element type of every value as far as the graph tells: what the file declares, what constants have, and what
/// operators give (Shape and ArgMax whole numbers, comparisons bool, Cast its target, control flow what its subgraphs
/// declare; else the type of what they read).
/// kUndefined where it is not known.
std::vector<DType> value_types(const Graph& graph);

}  // namespace tersor::framework
