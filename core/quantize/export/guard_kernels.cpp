// SPDX-License-Identifier: Apache-2.0
#include "core/export/guard_kernels.h"

#include <cmath>
#include <map>
#include <set>

#include "core/graph/clamp_bounds.h"
#include "core/graph/ranks.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

bool guard_from_add(Graph& graph, const Uses& uses, Node& kernel, Node& add, int rank) {
  if (rank == 2) {
    kernel.op_type = "Gemm";
    return true;
  }
  if (rank < 3) return false;
  const size_t slot = add.inputs[0] == kernel.outputs[0] ? 1 : 0;
  const Tensor* bias = graph.initializer(add.inputs[slot]);
  if (bias == nullptr || bias->shape().rank() != 1) return false;
  passes::set_constant(graph, uses, add, slot, bias->reshaped(Shape{1, bias->elements()}),
                       graph.name_of(add.inputs[slot]));
  return true;
}

/// Max and Min in place of the clamp at `index`, the first of two in `before` that place; a bound at infinity needs
/// none.
bool guard_from_clamp(Graph& graph, size_t index, const ClampBounds& bounds, std::map<size_t, Node>& before) {
  const Node clamp = graph.nodes()[index];
  const std::string stem = graph.label_of(clamp);
  std::vector<Node> steps;
  ValueId value = clamp.inputs[0];
  const auto then = [&](const char* type, double bound) {
    if (std::isinf(bound)) return;
    const float number = static_cast<float>(bound);
    Node step;
    step.op_type = type;
    step.name = stem + "_" + type;
    step.inputs = {value, graph.add_initializer(stem + "_" + type + "_Bound", Tensor::of<float>(Shape{}, {number}))};
    value = graph.add_unique_value(step.name + "_Output", DType::kFloat32);
    step.outputs = {value};
    steps.push_back(std::move(step));
  };
  then("Max", bounds.low);
  then("Min", bounds.high);
  if (steps.empty()) return false;
  steps.back().outputs = clamp.outputs;
  steps.back().name = clamp.name;
  steps.back().id = clamp.id;
  graph.nodes()[index] = steps.back();
  if (steps.size() == 2) before.emplace(index, std::move(steps.front()));
  return true;
}

void insert_all(Graph& graph, std::map<size_t, Node> before) {
  if (before.empty()) return;
  std::vector<Node> old = std::move(graph.nodes());
  graph.nodes().clear();
  for (size_t i = 0; i < old.size(); ++i) {
    if (const auto found = before.find(i); found != before.end()) graph.append(std::move(found->second));
    graph.nodes().push_back(std::move(old[i]));
  }
}

}  // namespace

int guard_kernels(Model& model, const std::vector<NodeId>& kernels) {
  const std::set<NodeId> wanted(kernels.begin(), kernels.end());
  if (wanted.empty()) return 0;
  Graph& graph = model.graph;
  const Uses uses(graph);
  const std::vector<int> ranks = infer_ranks(model);
  std::map<size_t, Node> before;
  int guarded = 0;
  for (Node& node : graph.nodes()) {
    if (wanted.count(node.id) == 0 || !(node.is("MatMul") || node.is("Gemm"))) continue;
    const auto reader = passes::sole_reader(graph, uses, node.outputs[0]);
    if (!reader) continue;
    Node& after = graph.nodes()[*reader];
    if (node.is("MatMul") && after.is("Add")) {
      const int rank = ranks[static_cast<size_t>(node.inputs[0].index)];
      if (guard_from_add(graph, uses, node, after, rank)) ++guarded;
      continue;
    }
    const auto bounds = clamp_bounds(graph, after);
    if (bounds && uses.reader_count(after.outputs[0]) == 1 && !uses.is_output(after.outputs[0]) &&
        guard_from_clamp(graph, *reader, *bounds, before))
      ++guarded;
  }
  insert_all(graph, std::move(before));
  return guarded;
}

}  // namespace tersor::ptq
