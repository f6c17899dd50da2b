// SPDX-License-Identifier: Apache-2.0
#include "core/framework/divisors.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/graph/operators.h"
#include "core/graph/uses.h"

namespace tersor::framework {

namespace {

bool is_negative_power(const Graph& graph, const Node& node) {
  const Tensor* const power = node.inputs.size() > 1 ? graph.initializer(node.inputs[1]) : nullptr;
  if (power == nullptr || power->dtype() != DType::kFloat32) return false;
  const Tensor aligned = power->aligned();
  const auto values = aligned.data<float>();
  return std::any_of(values.begin(), values.end(), [](float x) { return x < 0; });
}

/// The node has no use for a 0 at that input.
bool breaks_at_zero(const Graph& graph, const Node& node, size_t input) {
  if (!node.domain.empty()) return false;
  if (node.is("Div")) return input == 1;
  if (node.is("Pow")) return input == 0 && is_negative_power(graph, node);
  return node.is("Reciprocal") || node.is("Log");
}

/// Operators on the way from what is divided to what divides it.
bool leads_to_divisor(const Node& node) {
  constexpr std::string_view kTypes[] = {"Sqrt", "Add",      "Mul",      "Max",       "Clip",       "Abs",
                                         "Pow",  "ReduceL1", "ReduceL2", "ReduceSum", "ReduceMean", "ReduceSumSquare"};
  return has_trait(node, Trait::kView | Trait::kReorders | Trait::kRepeats) ||
         std::any_of(std::begin(kTypes), std::end(kTypes), [&](std::string_view type) { return node.is(type); });
}

}  // namespace

std::vector<bool> divisor_values(const Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> divides(graph.value_count(), false);
  const auto is_divisor = [&](ValueId id) { return id.valid() && divides[static_cast<size_t>(id.index)]; };
  const auto& nodes = graph.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node& node = nodes[i];
    const bool on_the_way = leads_to_divisor(node) && std::any_of(node.outputs.begin(), node.outputs.end(), is_divisor);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const ValueId id = node.inputs[k];
      if (!id.valid() || graph.initializer(id) != nullptr || !uses.producer_index(id)) continue;
      const bool alone = uses.reader_count(id) == 1 && !uses.is_output(id);
      if (breaks_at_zero(graph, node, k) || (on_the_way && alone)) divides[static_cast<size_t>(id.index)] = true;
    }
  }
  return divides;
}

}  // namespace tersor::framework
