// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Moves what one branch of an If alone reads into that branch, so that it is computed only where the branch is taken:
/// nodes with the constants that only they have. Small constants and DequantizeLinears that others read as well are
/// there once more, so that runtimes find them beside the operator. `taken`: Ifs by label_of(); true: then_branch.
void sink_branches(Graph& graph, const std::map<std::string, bool>& taken);

}  // namespace tersor::ptq
