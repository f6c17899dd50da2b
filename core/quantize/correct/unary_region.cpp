// SPDX-License-Identifier: Apache-2.0
#include "core/correct/unary_region.h"

#include <algorithm>
#include <set>

#include "core/graph/operators.h"
#include "core/ops/registry.h"
#include "core/passes/edit.h"
#include "core/run/program.h"

namespace tersor::ptq {

namespace {

/// Of each element by itself, given that all inputs but one are constants of one element.
bool is_unary(const Node& node) {
  return node.outputs.size() == 1 && (has_trait(node, Trait::kActivation | Trait::kArithmetic) || node.is("Erf") ||
                                      node.is("Exp") || node.is("Neg"));
}

bool is_single(const Graph& graph, ValueId id) {
  const Tensor* constant = passes::float_constant(graph, id);
  return constant != nullptr && constant->elements() == 1;
}

/// As a LeakyRelu before a quantizer.
bool is_integer(const Placement& placement, size_t index, const Node& node) {
  const PlacedTensor* made = placement.find(node.outputs[0]);
  return placement.roles[index].role == Role::kJoin && made != nullptr && made->integer_made;
}

}  // namespace

std::optional<UnaryRegion> unary_region_after(const Graph& graph, const Uses& uses, const Placement& placement,
                                              ValueId value) {
  auto region = unary_region_after(graph, uses, value, [&](ValueId id) { return placement.find(id) != nullptr; });
  const auto in_integers = [&](size_t index) { return is_integer(placement, index, graph.nodes()[index]); };
  if (region && std::any_of(region->nodes.begin(), region->nodes.end(), in_integers)) return std::nullopt;
  return region;
}

std::optional<UnaryRegion> unary_region_after(const Graph& graph, const Uses& uses, ValueId value,
                                              const std::function<bool(ValueId)>& is_quantized) {
  UnaryRegion region{value, value, {}};
  std::set<ValueId> made{value};
  std::set<size_t> next;
  const auto close = [&](ValueId id) {
    const auto& readers = uses.reader_indices(id);
    next.insert(readers.begin(), readers.end());
    return !uses.is_output(id);
  };
  if (!close(value)) return std::nullopt;
  while (!next.empty()) {
    const size_t index = *next.begin();
    next.erase(next.begin());
    const Node& node = graph.nodes()[index];
    const bool fits = is_unary(node) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
                        return !id.valid() || made.count(id) != 0 || is_single(graph, id);
                      });
    if (!fits) return std::nullopt;
    region.nodes.push_back(index);
    region.to = node.outputs[0];
    if (next.empty()) return region;
    if (is_quantized(region.to) || !close(region.to)) return std::nullopt;
    made.insert(region.to);
  }
  return std::nullopt;
}

std::vector<Tensor> evaluate(const Model& model, const std::vector<UnaryRegion>& regions,
                             const std::vector<Tensor>& points) {
  Model part = model;
  std::vector<bool> gone(model.graph.nodes().size(), true);
  part.graph.inputs.clear(), part.graph.outputs.clear();
  for (const UnaryRegion& region : regions) {
    for (const size_t index : region.nodes) {
      gone[index] = false;
      part.graph.value(model.graph.nodes()[index].outputs[0]).shape.reset();
    }
    part.graph.value(region.from).shape.reset();
    part.graph.inputs.push_back(region.from);
    part.graph.outputs.push_back(region.to);
  }
  passes::erase_marked(part.graph, gone);
  return run::Runner(run::Program::compile(part, ops::standard())).run(points);
}

}  // namespace tersor::ptq
