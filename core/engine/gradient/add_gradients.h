// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of a graph: nodes that compute dL by chosen values are appended to the graph that
// computes L. Source: the reverse accumulation of Linnainmaa (1970), in the form of ONNX Runtime's gradient builder.
//
//   Gradients found = add_gradients(model, {{output, by_output}}, {weight}, shapes);
//   auto program = run::Program::compile(model, operators(), {.fetched = {found.by_value[0]}});
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/registry.h"
#include "core/run/program.h"

namespace tersor::gradient {

/// The standard operators and those that gradients are made of.
const ops::Registry& operators();

/// dL by a value that is known from elsewhere: both are values of the graph, of one shape.
struct Seed {
  ValueId value, gradient;
  /// In the place of `gradient`: a node whose output 0 is dL by the value. It is put where that is first needed, and
  /// has as its last input what other readers of the value gave, where they do.
  std::optional<Node> last = std::nullopt;
};

/// A node that gradients do not pass.
struct Frozen {
  std::string place;   // graph.node[3] "lstm" (LSTM)
  std::string reason;  // a sentence
  size_t index = 0;    // of the node in the graph
};

struct Gradients {
  /// dL by each of the wanted values, in their order; invalid where the loss does not depend on it, or only through
  /// frozen nodes.
  std::vector<ValueId> by_value;
  /// Nodes between a wanted value and the loss that have no gradient, in the order of the graph.
  std::vector<Frozen> frozen;
};

/// `wanted`: float32 values of the graph, inputs among them. `ranks`: of its values (-1: not known), as ranks_of()
/// gives them. A value that has a seed may be an input of further nodes too.
Gradients add_gradients(Model& model, const std::vector<Seed>& seeds, const std::vector<ValueId>& wanted,
                        const std::vector<int>& ranks);

/// By value index, the rank of each value where the graph's inputs have these shapes; -1 where it is not known. Errors
/// of Program::compile and Program::value_types.
std::vector<int> ranks_of(const Model& model, const ops::Registry& registry, std::span<const Shape> input_shapes);

}  // namespace tersor::gradient
