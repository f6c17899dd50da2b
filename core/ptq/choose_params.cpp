// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/choose_params.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/core_operator.h"
#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"
#include "core/ptq/choose_activations.h"
#include "core/ptq/choose_constants.h"
#include "core/ptq/choose_weights.h"
#include "core/ptq/outcomes.h"
#include "core/ptq/runtime_fusions.h"
#include "core/ptq/take_concat_ranges.h"

namespace tersor::ptq {

using framework::Attachment;

namespace {

std::vector<KernelPlan> choose_kernels(const Graph& graph, const Attachment& attachment, const Placement& placement,
                                       const calibrate::Statistics& statistics,
                                       const config::QuantizationConfig& config, const QuantizationPlan& plan) {
  std::vector<KernelPlan> kernels;
  const Uses uses(graph);
  const auto is_quantized = [&](ValueId value) { return plan.find(value) != nullptr; };
  for (size_t i = 0; i < placement.roles.size(); ++i) {
    const NodeRole& role = placement.roles[i];
    if (!role.has_kernel() || !role.op || role.float_weight) continue;
    const Node& node = graph.nodes()[i];
    const ActivationPlan* input = plan.find(node.inputs[0]);
    WeightContext context{graph, attachment, config};
    context.input = statistics.find(graph.name_of(node.inputs[0]));
    context.input_params = input != nullptr ? &input->params : nullptr;
    if (const ValueId in_front = dequantized_in_front(graph, uses, node.inputs[0], is_quantized); in_front.valid())
      context.bias_input_scale = plan.find(in_front)->params.scale[0];
    kernels.push_back(choose_weight(node, *role.op, context));
  }
  return kernels;
}

void note_input_corrections(const Graph& graph, QuantizationPlan& plan) {
  AppliedCorrection made{"activation_bias_correction", {}, "Their biases make up for the mean error of their inputs"};
  for (const KernelPlan& kernel : plan.kernels) {
    const Node& node = *graph.find(kernel.node);
    if (kernel.input_correction != 0)
      made.where.push_back(node.name.empty() ? graph.name_of(node.outputs[0]) : node.name);
  }
  if (!made.where.empty()) plan.corrections.push_back(std::move(made));
}

/// Of the graphs in the node's attributes, and in theirs.
int64_t core_nodes_inside(const Node& node) {
  int64_t count = 0;
  for_each_subgraph(node, [&](const Graph& body) {
    for (const Node& inner : body.nodes()) count += (is_core(inner) ? 1 : 0) + core_nodes_inside(inner);
  });
  return count;
}

/// The work of some models lies in the branches of an If, such as one for each sample rate.
void refuse_work_in_bodies(const Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), is_core)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (const int64_t inside = core_nodes_inside(nodes[i]); inside > 0)
      throw Error(ErrorCode::kUnsupportedModel,
                  "Nothing in this model can be quantized: its Conv, Gemm and MatMul lie in the bodies of If, Loop or "
                  "Scan, which stay in float. The first holds " +
                      std::to_string(inside) + ".",
                  place_of(nodes[i], i),
                  "Export the branch that you use as a model of its own; an If whose condition is a constant is "
                  "replaced by its branch.");
  }
}

}  // namespace

void require_kernels(const Graph& graph, const Placement& placement, const std::vector<FloatChoice>& in_float) {
  for (const NodeRole& role : placement.roles)
    if (role.has_kernel()) return;
  if (!in_float.empty()) {
    const std::vector<Node>& nodes = graph.nodes();
    const auto first =
        std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == in_float[0].node; });
    throw Error(
        ErrorCode::kUnsupportedModel,
        "Every operator of this model that could be quantized would lose too much. The first: " + in_float[0].reason,
        place_of(*first, static_cast<size_t>(first - nodes.begin())),
        "Run the model as it is, or have it quantized all the same: --keep-float none "
        "(keep_float_automatically false).");
  }
  refuse_work_in_bodies(graph);
  for (const bool core : {true, false})
    for (size_t i = 0; i < placement.roles.size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (placement.roles[i].reason.empty() || node.inputs.size() < 2 || (core && !is_core(node))) continue;
      throw Error(ErrorCode::kUnsupportedModel,
                  "Nothing in this model can be quantized. The first operator that might: " + placement.roles[i].reason,
                  place_of(node, i),
                  "Export the model in float32 with constant weights, or choose other settings or another platform.");
    }
  throw Error(ErrorCode::kUnsupportedModel,
              "There is nothing to quantize: the model has no Conv, ConvTranspose, Gemm or MatMul with constant "
              "weights.",
              "graph", "Run it as it is, or export it with its weights as constants.");
}

QuantizationPlan choose_params(const Graph& graph, const Attachment& attachment, const Placement& placement,
                               const calibrate::Statistics& statistics, const config::QuantizationConfig& config) {
  QuantizationPlan plan;
  plan.activations = choose_activations(graph, attachment, placement, statistics, config);
  if (config.concat_threshold_update) take_concat_ranges(graph, attachment, placement, plan);
  plan.kernels = choose_kernels(graph, attachment, placement, statistics, config, plan);
  note_input_corrections(graph, plan);
  plan.constants = choose_constants(graph, attachment, config, plan);
  for (size_t i = 0; i < placement.roles.size(); ++i)
    if (placement.roles[i].has_kernel()) plan.operand_readers.push_back(graph.nodes()[i].id);
  std::sort(plan.operand_readers.begin(), plan.operand_readers.end());
  find_outcomes(graph, attachment, placement, plan);
  return plan;
}

}  // namespace tersor::ptq
