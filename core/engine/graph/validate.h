// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"

namespace tersor {

/// Subgraphs may lie this deep in each other.
inline constexpr int kDeepestSubgraph = 32;
inline constexpr const char* kFewerLevels = "Export the model with fewer If, Loop and Scan inside each other.";

/// Checks the rules that hold for every model, whatever its operators mean; subgraphs included:
///   - operator set versions are 1 or more, each domain imported once, and every node's domain is imported
///   - every value has one definition: a graph input, an initializer or one node's output
///   - a node reads only what is defined before it, here or around its subgraph; graph outputs are defined
///   - every node names its operator; every graph has outputs
/// Error kInvalidModel names the first offender with its place.
void validate(const Model& model);

}  // namespace tersor
