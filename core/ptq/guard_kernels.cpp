// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/guard_kernels.h"

#include <algorithm>
#include <cmath>

#include "core/graph/clamp_bounds.h"
#include "core/passes/edit.h"
#include "core/graph/ranks.h"

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

/// Max and Min in place of the clamp at `index`; a bound at infinity needs none.
bool guard_from_clamp(Graph& graph, size_t index, const ClampBounds& bounds) {
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
  if (steps.size() == 2) graph.insert(index, steps.front());
  return true;
}

bool guard(Model& model, NodeId kernel) {
  Graph& graph = model.graph;
  Node* node = graph.find(kernel);
  if (node == nullptr || !(node->is("MatMul") || node->is("Gemm"))) return false;
  const Uses uses(graph);
  const auto reader = passes::sole_reader(graph, uses, node->outputs[0]);
  if (!reader) return false;
  Node& after = graph.nodes()[*reader];
  if (node->is("MatMul") && after.is("Add")) {
    const int rank = infer_ranks(model)[static_cast<size_t>(node->inputs[0].index)];
    return guard_from_add(graph, uses, *node, after, rank);
  }
  const auto bounds = clamp_bounds(graph, after);
  return bounds && uses.reader_count(after.outputs[0]) == 1 && !uses.is_output(after.outputs[0]) &&
         guard_from_clamp(graph, *reader, *bounds);
}

}  // namespace

int guard_kernels(Model& model, const std::vector<NodeId>& kernels) {
  return static_cast<int>(
      std::count_if(kernels.begin(), kernels.end(), [&](NodeId kernel) { return guard(model, kernel); }));
}

}  // namespace tersor::ptq
