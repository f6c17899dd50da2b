// SPDX-License-Identifier: Apache-2.0
#include "core/graph/folded_values.h"

#include <algorithm>

namespace tersor {

std::vector<bool> folded_values(const Graph& graph) {
  std::vector<bool> folded(graph.value_count());
  const auto is_constant = [&](ValueId id) {
    return !id.valid() || graph.initializer(id) != nullptr || folded[static_cast<size_t>(id.index)];
  };
  for (const Node& node : graph.nodes()) {
    if (node.op_type == "DequantizeLinear" || !std::all_of(node.inputs.begin(), node.inputs.end(), is_constant))
      continue;
    for (const ValueId id : node.outputs)
      if (id.valid()) folded[static_cast<size_t>(id.index)] = true;
  }
  return folded;
}

}  // namespace tersor
