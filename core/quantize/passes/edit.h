// SPDX-License-Identifier: Apache-2.0
// The moves that rewrites are made of. Each keeps the names of graph inputs and outputs, and leaves values alone that a
// subgraph reads by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::passes {

/// By value index: a subgraph of some node reads the value by its name, so it must go on existing under that name.
std::vector<bool> captured_values(const Graph& graph);

/// Makes node `index`, whose output 0 equals `source`, superfluous: its readers read `source` instead, or, where output
/// 0 is a graph output, the producer of `source` makes it directly. False, and nothing changed, where a name that must
/// stay forbids it. The node itself is left for the caller to erase.
bool bypass_node(Graph& graph, size_t index, ValueId source);

/// The one node that reads `value`, when there is exactly one, it reads it once, no subgraph does, and it is no graph
/// output.
std::optional<size_t> sole_reader(const Graph& graph, const Uses& uses, ValueId value);

/// The initializer when it is float32, else null.
const Tensor* float_constant(const Graph& graph, ValueId id);

/// Float32 elements of a constant as double.
std::vector<double> to_doubles(const Tensor& tensor);
Tensor from_doubles(const std::vector<double>& values, Shape shape);

/// Gives input `slot` of a node the constant `tensor`: under the old name when nobody else reads the old constant, else
/// as a new initializer called after `stem`.
void set_constant(Graph& graph, const Uses& uses, Node& node, size_t slot, Tensor tensor, const std::string& stem);

/// Lets `fold` merge a node with the one node that reads its output 0, for every such pair, again and again until it
/// changes nothing. `fold` returns false, or gives `node` the work and the output of `follower`, which is then erased.
/// Returns how many pairs were merged.
using Fold = std::function<bool(Graph& graph, const Uses& uses, Node& node, const Node& follower)>;
int fold_followers(Graph& graph, const Fold& fold);

/// Erases the nodes with gone[index].
void erase_marked(Graph& graph, const std::vector<bool>& gone);

}  // namespace tersor::passes
