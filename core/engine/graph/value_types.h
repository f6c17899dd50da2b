// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// The element type of output `k` of an operator, where `input` gives those of its inputs. kUndefined where it is not
/// known.
DType output_type(const Node& node, size_t k, const std::function<DType(size_t)>& input);

/// That of every value as far as the graph tells: what the file declares, what constants have, and what operators give.
std::vector<DType> value_types(const Graph& graph);

}  // namespace tersor
