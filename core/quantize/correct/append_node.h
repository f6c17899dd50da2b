// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Appends a node that is named after its one output and its type.
inline NodeId append_node(Graph& graph, const char* type, std::vector<ValueId> inputs, ValueId output,
                          Attributes attributes = {}) {
  Node node;
  node.op_type = type;
  node.name = graph.name_of(output) + "_" + type;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.attributes = std::move(attributes);
  return graph.append(std::move(node));
}

}  // namespace tersor::ptq
