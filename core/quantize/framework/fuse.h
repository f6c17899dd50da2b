// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/tpc/fusing.h"

namespace tersor::framework {

/// x sigmoid(x) in two nodes, which platform tables know as one operator: a Sigmoid, and the Mul of its input and of
/// what it gives to nobody else.
struct Swish {
  size_t sigmoid = 0, mul = 0;  // indices into graph.nodes()
};

/// All of a graph, in its order.
std::vector<Swish> find_swishes(const Graph& graph);

struct FusedChain {
  size_t pattern = 0;         // index into the patterns
  std::vector<size_t> nodes;  // indices into graph.nodes()
};

/// The chains of nodes that match a whole pattern. Nodes are taken in the graph's order, each belongs to one chain at
/// most; of the patterns that match from a node the longest wins, then the first. Every node of a chain but the last
/// has one reader only, the next, and is no output of the graph. `sets` holds the operator set of each node, empty for
/// none. The two nodes of each of `swishes` are one step of a chain; both have its operator set.
std::vector<FusedChain> fuse(const Graph& graph, const std::vector<std::string>& sets,
                             const std::vector<tpc::Fusing>& patterns, const std::vector<Swish>& swishes = {});

}  // namespace tersor::framework
