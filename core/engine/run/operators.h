// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/ops/registry.h"

namespace tersor::run {

/// Finds the operator of a node. Error kUnsupportedModel when there is none, kInvalidModel when the node has an
/// attribute that it does not know; the place is left to the caller.
const ops::Op& operator_of(const Node& node, const Model& model, const ops::Registry& registry);

/// Error kUnsupportedModel that names every operator of the live nodes that is not in the registry, the first of them
/// as its place, with what to do about that kind.
void require_operators(const Model& model, const ops::Registry& registry, const std::vector<bool>& live);

}  // namespace tersor::run
