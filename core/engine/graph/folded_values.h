// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// By value, true where a runtime computes it when it opens the file: what nodes make of constants alone, through no
/// DequantizeLinear, which runtimes keep. Initializers themselves are false.
std::vector<bool> folded_values(const Graph& graph);

}  // namespace tersor
