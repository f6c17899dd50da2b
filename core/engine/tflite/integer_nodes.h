// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph TensorFlow Lite computes in integers: those whose inputs and output are quantized.
#pragma once

#include <functional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

/// Values of a graph that are in integers, or will be once its quantizers are in it.
struct IntegerValues {
  std::function<bool(ValueId)> is_read;  // nodes read it from integers
  std::function<bool(ValueId)> is_made;  // a quantizer alone reads what the node makes
};

/// Those of a graph with its quantizers, which has to outlive them.
IntegerValues quantized_values(const Graph& graph, const Uses& uses);

/// How an output of a node is computed.
struct NodeArithmetic {
  bool in_integers = false;
  const Node* follower = nullptr;  // an activation that the same operator applies
  int32_t activation = kNoActivation;
};

/// Of a node that TensorFlow Lite has an operator for.
NodeArithmetic arithmetic_of(const Graph& graph, const Uses& uses, const Node& node, size_t output,
                             const IntegerValues& values);

/// The nodes that are computed in integers.
std::vector<NodeId> integer_nodes(const Graph& graph, const Uses& uses, const IntegerValues& values);

}  // namespace tersor::tflite
