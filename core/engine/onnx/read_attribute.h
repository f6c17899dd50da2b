// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/onnx/read_graph.h"

namespace tersor::onnx {

struct AttributeContext {
  const GraphContext& graph;
  const std::string& node_place;
  int depth;  // of the graph the node lies in
};

/// Reads an encoded AttributeProto into `node`, whose operator is known by then. What has no typed form here (sparse
/// tensors, types, references to a function's attribute) is kept byte for byte; of operators that ONNX does not know,
/// everything is whose typed form would be written differently.
void add_attribute(std::string_view message, Node& node, const AttributeContext& context);

}  // namespace tersor::onnx
