// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/job/tersor.h"

namespace tersor {

/// Error kInvalidConfig at `place` where the words switch the automatic choice both on and off.
void check_keep_float(const std::vector<std::string>& words, const std::string& place);

/// What stays in float, word by word: "auto" and "none" switch the rules from statistics on and off
/// (keep_float_automatically); else the name of a node of `graph`, the model as read, or an operator type. Each becomes
/// an override after those that there are.
void keep_float(const std::vector<std::string>& words, const Graph& graph, Settings& settings);

}  // namespace tersor
