// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// visit(const Graph&) for every graph in the node's attributes, in their order; not for those inside these.
template <class Visit>
void for_each_subgraph(const Node& node, Visit&& visit) {
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) visit(**one);
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
      for (const auto& one : *many) visit(*one);
  }
}

}  // namespace tersor
