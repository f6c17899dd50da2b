// SPDX-License-Identifier: Apache-2.0
#include "core/decide/plan.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/json.h"

namespace tersor::ptq {

const ActivationPlan* find_plan(std::span<const ActivationPlan> plans, ValueId value) {
  const auto it =
      std::find_if(plans.begin(), plans.end(), [&](const ActivationPlan& one) { return one.tensor.value == value; });
  return it == plans.end() ? nullptr : &*it;
}

const ActivationPlan* QuantizationPlan::find(ValueId value) const {
  return find_plan(activations, value);
}

const KernelPlan* QuantizationPlan::find(NodeId node) const {
  const auto it = std::find_if(kernels.begin(), kernels.end(), [&](const KernelPlan& one) { return one.node == node; });
  return it == kernels.end() ? nullptr : &*it;
}

bool QuantizationPlan::reads_quantized(NodeId node) const {
  return std::binary_search(operand_readers.begin(), operand_readers.end(), node);
}

namespace {

Json params_json(const quant::QuantizationParams& params) {
  Json json = Json::object();
  json["method"] = std::string(enum_word(params.method));
  json["n_bits"] = params.grid.n_bits;
  json["is_signed"] = params.grid.is_signed;
  json["channel_axis"] = params.channel_axis ? Json(*params.channel_axis) : Json(nullptr);
  json["scale"] = params.scale;
  json["zero_point"] = params.zero_point;
  return json;
}

std::string node_name(const Graph& graph, NodeId id) {
  const Node* node = graph.find(id);
  return node == nullptr ? "" : node->name;
}

Json activation_json(const Graph& graph, const ActivationPlan& plan) {
  Json json = Json::object();
  json["tensor"] = graph.name_of(plan.tensor.value);
  json["group"] = plan.tensor.group;
  json["integer_made"] = plan.tensor.integer_made;
  if (plan.is_implied) json["implied"] = true;
  json["is_fixed"] = plan.is_fixed;
  json["seen"] = {plan.seen.low, plan.seen.high};
  json["params"] = params_json(plan.params);
  if (plan.table) json["table"] = plan.table->table;
  return json;
}

Json blocks_json(const quant::BlockParams& blocks) {
  Json json = {
      {"size", blocks.size}, {"columns", blocks.columns}, {"scale", blocks.scale}, {"zero_point", blocks.zero_point}};
  if (blocks.has_levels()) json["row_scale"] = blocks.row_scale;
  return json;
}

Json kernel_json(const Graph& graph, const KernelPlan& plan) {
  Json json = Json::object();
  json["node"] = node_name(graph, plan.node);
  json["weight"] = graph.name_of(plan.op.weight);
  json["params"] = params_json(plan.weight);
  if (plan.table) json["table"] = plan.table->table;
  if (plan.blocks) json["blocks"] = blocks_json(*plan.blocks);
  json["integer_bias"] = plan.integer_bias;
  json["largest_correction"] = plan.largest_correction;
  json["raised_channels"] = plan.raised_channels;
  if (plan.input_correction != 0) json["input_correction"] = plan.input_correction;
  if (plan.shared) json["shared"] = node_name(graph, *plan.shared);
  if (plan.keeps_deviation) json["keeps_deviation"] = true;
  if (!plan.codes.empty()) json["codes"] = sha256_hex(std::as_bytes(std::span(plan.codes)));
  return json;
}

}  // namespace

Json to_json(const Graph& graph, const QuantizationPlan& plan) {
  Json json = Json::object();
  json["activations"] = Json::array();
  for (const ActivationPlan& one : plan.activations) json["activations"].push_back(activation_json(graph, one));
  json["kernels"] = Json::array();
  for (const KernelPlan& one : plan.kernels) json["kernels"].push_back(kernel_json(graph, one));
  json["constants"] = Json::array();
  for (const ConstantPlan& one : plan.constants) {
    Json entry{{"node", node_name(graph, one.node)}, {"input", one.input}, {"params", params_json(one.params)}};
    if (one.tied) entry["tied"] = node_name(graph, *one.tied);
    if (one.table) entry["table"] = one.table->table;
    if (one.blocks) entry["blocks"] = blocks_json(*one.blocks);
    json["constants"].push_back(std::move(entry));
  }
  const auto has_blocks = [](const KernelPlan& kernel) { return kernel.blocks.has_value(); };
  if (plan.accuracy_level != kFloatSums && std::any_of(plan.kernels.begin(), plan.kernels.end(), has_blocks))
    json["accuracy_level"] = plan.accuracy_level;
  json["nodes"] = Json::array();
  for (size_t i = 0; i < plan.outcomes.size(); ++i) {
    const NodeOutcome& outcome = plan.outcomes[i];
    const Node* node = graph.find(outcome.node);
    Json entry = Json::object();
    entry["node"] = node == nullptr ? "" : node->name;
    entry["op_type"] = node == nullptr ? "" : node->op_type;
    entry["arithmetic"] = std::string(enum_word(outcome.arithmetic));
    json["nodes"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace tersor::ptq
