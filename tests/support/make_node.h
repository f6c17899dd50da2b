// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::test {

inline Node make_node(std::string op, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.op_type = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

}  // namespace tersor::test
