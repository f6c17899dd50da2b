// SPDX-License-Identifier: Apache-2.0
// Nodes whose inputs are all constant become initializers, computed by the float engine: Constant nodes, shapes and
// masks that an exporter left as a chain of nodes, reshaped weights. What makes a graph output stays a node, since the
// output's name must be a node's. Left alone: operators the engine does not know, subgraphs, random numbers,
// QuantizeLinear and DequantizeLinear, and what would blow a small constant up.
#include <algorithm>
#include <map>
#include <utility>

#include "core/graph/operators.h"
#include "core/ops/registry.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"
#include "core/run/program.h"

namespace tersor::passes {

namespace {

/// Folding may use as much memory as four times the model's constants, and this. Where that is not enough, what makes
/// much from little is left in the graph.
constexpr int64_t kExtraBytes = int64_t{64} << 20;

bool blows_up(const Node& node) {
  return node.is("ConstantOfShape") || node.is("Expand") || node.is("Tile") || node.is("Range") || node.is("OneHot");
}

bool may_fold(const Node& node) {
  if (has_trait(node, Trait::kRandom) || node.is("Dropout") || node.is("QuantizeLinear")) return false;
  for (const auto& [name, attribute] : node.attributes)
    if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute) ||
        std::holds_alternative<std::vector<std::shared_ptr<const Graph>>>(attribute) ||
        std::holds_alternative<OpaqueAttribute>(attribute))
      return false;
  return node.domain.empty() && !node.outputs.empty();
}

/// Which nodes depend on constants only, through nodes of that kind alone.
std::vector<bool> find_foldable(const Model& model, const std::vector<bool>& blocked) {
  const Graph& graph = model.graph;
  const Uses uses(graph);
  std::vector<bool> constant(graph.value_count(), false), foldable(graph.nodes().size(), false);
  for (const auto& [id, tensor] : graph.initializers()) constant[static_cast<size_t>(id.index)] = true;
  for (size_t i = 0; i < foldable.size(); ++i) {
    const Node& node = graph.nodes()[i];
    bool all = !blocked[i] && may_fold(node);
    for (const ValueId id : node.inputs) all = all && (!id.valid() || constant[static_cast<size_t>(id.index)]);
    for (const ValueId id : node.outputs) all = all && (!id.valid() || !uses.is_output(id));
    foldable[i] = all;
    for (const ValueId id : node.outputs)
      if (all && id.valid()) constant[static_cast<size_t>(id.index)] = true;
  }
  return foldable;
}

/// The model cut down to the foldable nodes, without inputs and outputs.
Model constant_part(const Model& model, const std::vector<bool>& foldable) {
  Model part = model;
  std::vector<bool> gone(foldable.size());
  for (size_t i = 0; i < gone.size(); ++i) gone[i] = !foldable[i];
  erase_marked(part.graph, gone);
  part.graph.inputs.clear();
  part.graph.outputs.clear();
  return part;
}

/// Outputs of foldable nodes that other nodes read.
std::vector<ValueId> frontier(const Graph& graph, const std::vector<bool>& foldable) {
  const Uses uses(graph);
  std::vector<ValueId> values;
  for (size_t i = 0; i < foldable.size(); ++i) {
    if (!foldable[i]) continue;
    for (const ValueId id : graph.nodes()[i].outputs) {
      if (!id.valid()) continue;
      const auto& readers = uses.reader_indices(id);
      if (std::any_of(readers.begin(), readers.end(), [&](size_t reader) { return !foldable[reader]; }))
        values.push_back(id);
    }
  }
  return values;
}

std::vector<bool> without(std::vector<bool> blocked, const Graph& graph,
                          const std::function<bool(const Node&)>& is_blocked) {
  for (size_t i = 0; i < blocked.size(); ++i) blocked[i] = blocked[i] || is_blocked(graph.nodes()[i]);
  return blocked;
}

/// Computes the frontier and makes it initializers. Error kOutOfMemory when that takes more than `limit` bytes.
int fold(Model& model, const std::vector<bool>& foldable, int64_t limit) {
  const Model part = constant_part(model, foldable);
  run::ProgramOptions options;
  options.fetched = frontier(model.graph, foldable);
  options.memory_limit = limit;
  run::Runner runner(run::Program::compile(part, ops::standard(), options));
  std::vector<Tensor> results = runner.run({});
  for (size_t k = 0; k < options.fetched.size(); ++k)
    model.graph.set_initializer(options.fetched[k], std::move(results[k]));
  erase_marked(model.graph, foldable);
  return static_cast<int>(std::count(foldable.begin(), foldable.end(), true));
}

/// Nodes that compute the same of the same constants become one, so that a weight that each layer transposes for itself
/// is one weight still. Constant nodes stay as they are. Returns how many went.
int merge_equal(Model& model) {
  Graph& graph = model.graph;
  const std::vector<bool> foldable = find_foldable(model, std::vector<bool>(graph.nodes().size(), false)),
                          captured = captured_values(graph);
  std::map<std::pair<std::string, std::vector<ValueId>>, std::vector<size_t>> known;
  std::map<ValueId, ValueId> merged;
  std::vector<bool> gone(graph.nodes().size(), false);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    Node& node = graph.nodes()[i];
    for (ValueId& id : node.inputs)
      if (const auto found = merged.find(id); found != merged.end()) id = found->second;
    if (!foldable[i] || node.inputs.empty() || node.outputs.size() != 1 || !node.outputs[0].valid() ||
        captured[static_cast<size_t>(node.outputs[0].index)])
      continue;
    std::vector<size_t>& alike = known[{node.op_type, node.inputs}];
    const auto same = std::find_if(alike.begin(), alike.end(),
                                   [&](size_t other) { return graph.nodes()[other].attributes == node.attributes; });
    if (same == alike.end()) {
      alike.push_back(i);
      continue;
    }
    merged[node.outputs[0]] = graph.nodes()[*same].outputs[0];
    gone[i] = true;
  }
  erase_marked(graph, gone);
  return static_cast<int>(merged.size());
}

}  // namespace

int fold_constants(Model& model) {
  const int merged = merge_equal(model);
  const Graph& graph = model.graph;
  std::vector<bool> blocked(graph.nodes().size(), false);
  const Model candidates = constant_part(model, find_foldable(model, blocked));
  if (candidates.graph.nodes().empty()) return merged;
  const auto unknown = run::unsupported(candidates, ops::standard());
  blocked = without(std::move(blocked), graph, [&](const Node& node) {
    return std::any_of(unknown.begin(), unknown.end(),
                       [&](const run::Unsupported& one) { return one.node == node.id; });
  });
  int64_t limit = kExtraBytes;
  for (const auto& [id, tensor] : graph.initializers()) limit += 4 * static_cast<int64_t>(tensor.byte_count());
  try {
    return merged + fold(model, find_foldable(model, blocked), limit);
  } catch (const Error& error) {
    if (error.code != ErrorCode::kOutOfMemory) throw;
  }
  return merged + fold(model, find_foldable(model, without(std::move(blocked), graph, blows_up)), limit);
}

}  // namespace tersor::passes
