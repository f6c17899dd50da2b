// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/integer_nodes.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/graph/clamp_bounds.h"
#include "core/graph/qdq.h"
#include "core/tflite/lowering.h"

namespace tersor::tflite {

namespace {

bool is_constant(const Graph& graph, const Uses& uses, ValueId value) {
  if (graph.initializer(value) != nullptr) return true;
  const auto restored = dequantized(graph, uses, value);
  return restored && graph.initializer(restored->raw) != nullptr;
}

/// The activation that operators apply to their results.
int32_t activation_of(const Graph& graph, const Node& node) {
  const auto bounds = clamp_bounds(graph, node);
  if (!bounds) return kNoActivation;
  if (bounds->low == 0 && bounds->high >= std::numeric_limits<float>::max()) return kReluActivation;
  if (bounds->low == 0 && bounds->high == 6) return kRelu6Activation;
  return bounds->low == -1 && bounds->high == 1 ? kReluN1To1Activation : kNoActivation;
}

}  // namespace

IntegerValues quantized_values(const Graph& graph, const Uses& uses) {
  return {[&](ValueId value) { return dequantized(graph, uses, value).has_value(); },
          [&](ValueId value) { return quantized(graph, uses, value).has_value(); }};
}

NodeArithmetic arithmetic_of(const Graph& graph, const Uses& uses, const Node& node, size_t output,
                             const IntegerValues& values) {
  const Rule& rule = *find_rule(node);
  const bool reads_integers = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return !input.valid() || values.is_read(input) || is_constant(graph, uses, input);
  });
  const ValueId made = node.outputs[output];
  const bool is_made = values.is_made(made);
  NodeArithmetic result{reads_integers && (is_made || rule.gives_numbers)};
  if (!rule.takes_activation || is_made) return result;
  const Node* next = only_reader(graph, uses, made);
  const int32_t activation = next != nullptr ? activation_of(graph, *next) : kNoActivation;
  if (activation == kNoActivation || values.is_made(next->outputs[0]) != reads_integers) return result;
  return {reads_integers, next, activation};
}

std::vector<NodeId> integer_nodes(const Graph& graph, const Uses& uses, const IntegerValues& values) {
  std::set<NodeId> found, applied;
  for (const Node& node : graph.nodes()) {
    if (applied.count(node.id) != 0 || find_rule(node) == nullptr) continue;
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k].valid() || uses.reader_count(node.outputs[k]) == 0) continue;
      const NodeArithmetic made = arithmetic_of(graph, uses, node, k, values);
      if (made.follower != nullptr) applied.insert(made.follower->id);
      if (!made.in_integers) continue;
      found.insert(node.id);
      if (made.follower != nullptr) found.insert(made.follower->id);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace tersor::tflite
