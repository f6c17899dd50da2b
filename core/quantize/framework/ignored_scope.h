// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/ignored_scope.h"
#include "core/graph/graph.h"

namespace tersor::framework {

/// The names (override_name()) of the nodes that the scope chooses, in the prepared graph and in `former`, the one that
/// it was made of; null: nothing is said of what chooses no node. A rule that chooses none is Error kInvalidConfig, all
/// such together, or without `validate` a note; so is a name whose node was folded into those around it.
std::set<std::string> ignored_names(const config::IgnoredScope& scope, const Graph& graph, const Graph* former,
                                    std::vector<Diagnostic>& notes);

}  // namespace tersor::framework
