// SPDX-License-Identifier: Apache-2.0
#include "core/export/apply_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/choose/block_weight.h"
#include "core/export/added_names.h"
#include "core/export/applier.h"
#include "core/export/guard_float_nodes.h"
#include "core/export/guard_kernels.h"
#include "core/export/guard_moved_quantizers.h"
#include "core/onnx/convert_opset.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

constexpr int64_t kLeastIr = 8;

}  // namespace

Model Applier::apply() {
  if (needs_small_integers()) onnx::convert_to_opset(model_, kOpsetOfSmallIntegers);
  drop_plain_dilations();
  fold_clamps();
  for (const ConstantPlan& constant : plan_.constants)
    if (constant.tied) store_tied(constant);
  for (const KernelPlan& kernel : plan_.kernels) store_weight(kernel);
  for (const ConstantPlan& constant : plan_.constants)
    constant.by_row ? store_embedding(constant) : store_constant(constant);
  const Uses uses(graph());
  for (const ActivationPlan& activation : plan_.activations)
    if (!activation.is_implied) insert_pair(uses, activation);
  place_new_nodes();
  guard_moved_quantizers(graph(), model_.opset());
  guard_float_nodes(model_, softmaxes_in_float(), kernels_with_zero_points());
  guard_kernels(model_, kernels_with_float_results());
  graph().erase_unused_initializers();
  pack_codes(graph(), few_bit_codes_);
  make_names_unique();
  model_.ir_version = std::max({model_.ir_version, kLeastIr, onnx::ir_version_for(model_.opset()),
                                has_int4_ ? onnx::ir_version_for(kOpsetOfSmallIntegers) : 0});
  return std::move(model_);
}

bool Applier::needs_small_integers() const {
  return std::any_of(plan_.activations.begin(), plan_.activations.end(),
                     [](const ActivationPlan& one) { return bits_of(one.params.storage()) != 8; }) ||
         std::any_of(plan_.kernels.begin(), plan_.kernels.end(),
                     [this](const KernelPlan& one) {
                       if (one.table || folds(one)) return false;
                       const bool has_few_bits = one.weight.grid.n_bits <= 4 && !folds_constants();
                       return (one.blocks && !one.has_levels()) || has_few_bits || bits_of(one.weight.storage()) != 8;
                     }) ||
         std::any_of(plan_.constants.begin(), plan_.constants.end(), [this](const ConstantPlan& one) {
           return !one.is_packed && ((!one.by_row && one.params.grid.n_bits <= 4 && !folds_constants()) ||
                                     bits_of(one.params.storage()) != 8);
         });
}

bool Applier::folds(const KernelPlan& kernel) const {
  return tpc::folds(plan_.float_weights) && kernel.in_float && !kernel.table && bits_of(kernel.weight.storage()) == 8;
}

bool Applier::multiplies_bits(const KernelPlan& kernel, const Node& node) const {
  return kernel.blocks && block_form(plan_, kernel, node) == BlockForm::kMatMulNBits;
}

std::vector<NodeId> Applier::kernels_with_float_results() const {
  std::vector<NodeId> list;
  for (const NodeOutcome& outcome : plan_.outcomes)
    if (outcome.arithmetic == NodeOutcome::Arithmetic::kIntegerFloatOutput) list.push_back(outcome.node);
  for (const KernelPlan& kernel : plan_.kernels)
    if (!kernel.table && !folds(kernel) && weight_type(kernel.weight) == DType::kInt4) list.push_back(kernel.node);
  return list;
}

std::vector<NodeId> Applier::kernels_with_zero_points() const {
  std::vector<NodeId> list;
  for (const KernelPlan& kernel : plan_.kernels)
    if (kernel.has_zero_points() && !folds(kernel) && !kernel.blocks) list.push_back(kernel.node);
  return list;
}

std::vector<NodeId> Applier::softmaxes_in_float() const {
  std::vector<NodeId> list;
  for (const NodeOutcome& outcome : plan_.outcomes)
    if (outcome.arithmetic == NodeOutcome::Arithmetic::kFloat) list.push_back(outcome.node);
  std::erase_if(list, [this](NodeId id) {
    const Node* const node = model_.graph.find(id);
    return node == nullptr || !node->is("Softmax");
  });
  return list;
}

/// ONNX Runtime's integer AveragePool does not know the attribute, not even where it says nothing.
void Applier::drop_plain_dilations() {
  for (Node& node : graph().nodes())
    if (node.is("AveragePool") && !is_dilated(node)) node.attributes.erase("dilations");
}

void Applier::fold_clamps() {
  std::set<NodeId> folded(plan_.folded_clamps.begin(), plan_.folded_clamps.end());
  std::map<ValueId, std::pair<size_t, size_t>> producer;  // node and output position
  auto& nodes = graph().nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (folded.count(nodes[i].id) == 0) {
      for (size_t k = 0; k < nodes[i].outputs.size(); ++k) producer[nodes[i].outputs[k]] = {i, k};
      continue;
    }
    const auto [maker, position] = producer.at(nodes[i].inputs[0]);
    nodes[maker].outputs[position] = nodes[i].outputs[0];
    producer[nodes[i].outputs[0]] = {maker, position};
  }
  graph().erase_nodes([&](const Node& node) { return folded.count(node.id) != 0; });
}

/// A Clip of codes of 8 bits to those of the grid. It stands after the QuantizeLinear, so that integer kernels end in
/// that, and their sums are exact.
Node Applier::bound_codes(const std::string& name, ValueId all, ValueId bounded, const QuantizationParams& params) {
  const auto constant = [&](const char* part, int32_t code) {
    return graph().add_initializer(name + part, params.storage() == DType::kUint8
                                                    ? Tensor::scalar(static_cast<uint8_t>(code))
                                                    : Tensor::scalar(static_cast<int8_t>(code)));
  };
  const ValueId low = constant("_lowest", params.grid.q_min()), high = constant("_highest", params.grid.q_max());
  return pair_node("Clip", name, {all, low, high}, bounded);
}

/// A Clip to what the grid's integers stand for, of which the type that holds them has more; for types whose codes
/// runtimes do not clip.
Node Applier::bound(const std::string& name, ValueId value, const QuantizationParams& params) {
  const quant::Range range = params.representable();
  const auto constant = [&](const char* part, double number) {
    return graph().add_initializer(name + part, Tensor::of<float>(Shape{}, {static_cast<float>(number)}));
  };
  const ValueId low = constant("_low", range.low), high = constant("_high", range.high);
  return pair_node("Clip", name, {value, low, high}, graph().add_unique_value(name + "_Clip_Output", DType::kFloat32));
}

void Applier::insert_pair(const Uses& uses, const ActivationPlan& activation) {
  const ValueId value = activation.tensor.value;
  const std::string name = name_of(value);
  auto [shared, is_new] = group_params_.try_emplace(activation.tensor.group);
  if (is_new) {
    const QuantizationParams& params = activation.params;
    shared->second = {scale_of(name, params), zero_point_of(name, params, params.storage()), {}};
    if (activation.table)
      shared->second.table = graph().add_initializer(
          name + kTable,
          Tensor::of<uint8_t>(Shape{256}, quant::nearest_codes(*activation.table, params.zero_point[0])));
  }
  const auto [scale, zero_point, table] = shared->second;
  const ValueId codes = graph().add_unique_value(name + kCodes, activation.params.storage());
  ValueId source = value, restored;
  const bool keeps_name =
      activation.tensor.integer_made && (uses.is_output(value) || captured_[static_cast<size_t>(value.index)]);
  const auto maker = uses.producer_index(value);
  if (keeps_name && maker) {
    source = graph().add_unique_value(name + "_QuantizeLinear_Input", DType::kFloat32);
    restored = value;
    auto& outputs = graph().nodes()[*maker].outputs;
    std::replace(outputs.begin(), outputs.end(), value, source);
  } else {
    restored = graph().add_unique_value(name + kRestored, DType::kFloat32);
    for (const size_t reader : uses.reader_indices(value)) {
      Node& node = graph().nodes()[reader];
      if (activation.tensor.integer_made || plan_.reads_quantized(node.id))
        std::replace(node.inputs.begin(), node.inputs.end(), value, restored);
    }
  }
  std::vector<Node>& after = after_[source];
  const DType storage = activation.params.storage();
  const bool is_bounded = activation.params.grid.n_bits != bits_of(storage);
  if (is_bounded && bits_of(storage) == 8) {
    const ValueId all = graph().add_unique_value(name + "_quantized_unbounded", storage);
    after.push_back(pair_node("QuantizeLinear", name, {source, scale, zero_point}, all));
    after.push_back(bound_codes(name, all, codes, activation.params));
  } else {
    if (is_bounded) {
      after.push_back(bound(name, source, activation.params));
      source = after.back().outputs[0];
    }
    after.push_back(pair_node("QuantizeLinear", name, {source, scale, zero_point}, codes));
  }
  ValueId kept = codes;
  if (table.valid() && !activation.is_looked_up) {
    const ValueId index = graph().add_unique_value(name + "_index", DType::kInt32);
    kept = graph().add_unique_value(name + "_nearest", DType::kUint8);
    after.push_back(pair_node("Cast", name, {codes}, index));
    after.back().attributes["to"] = static_cast<int64_t>(DType::kInt32);
    after.push_back(pair_node("Gather", name, {table, index}, kept));
  }
  after.push_back(pair_node("DequantizeLinear", name, {kept, scale, zero_point}, restored));
}

void Applier::place_new_nodes() {
  std::vector<Node> old = std::move(graph().nodes());
  graph().nodes().clear();
  const auto append_after = [this](ValueId value) {
    const auto found = after_.find(value);
    if (found == after_.end()) return;
    for (Node& node : found->second) graph().append(std::move(node));
  };
  for (const ValueId input : graph().inputs) append_after(input);
  for (Node& node : old) {
    const std::vector<ValueId> outputs = node.outputs;
    if (const auto found = before_.find(node.id); found != before_.end())
      for (Node& restore : found->second) graph().append(std::move(restore));
    graph().nodes().push_back(std::move(node));
    for (const ValueId output : outputs) append_after(output);
  }
}

/// Runtimes refuse two nodes of one name, and nodes are named after what they restore, which several may read. Nodes
/// without a name get that of their output: ONNX Runtime 1.19 to 1.21 name what they make of such nodes all alike.
void Applier::make_names_unique() {
  for (Node& node : graph().nodes())
    for (const ValueId output : node.outputs)
      if (node.name.empty() && output.valid()) node.name = name_of(output);
  std::set<std::string> taken;
  for (const Node& node : graph().nodes()) taken.insert(node.name);
  std::set<std::string> seen;
  for (Node& node : graph().nodes()) {
    if (node.name.empty() || seen.insert(node.name).second) continue;
    const std::string stem = node.name;
    for (int k = 2; !taken.insert(node.name).second; ++k) node.name = stem + "_" + std::to_string(k);
    seen.insert(node.name);
  }
}

Model apply_restored(const Model& model, QuantizationPlan plan) {
  plan.float_weights = tpc::FloatWeights::kDequantize;
  for (KernelPlan& kernel : plan.kernels)
    if (kernel.table && bits_of(kernel.weight.storage()) == 8) kernel.is_packed = false;
  return apply_plan(model, plan);
}

Model apply_plan(const Model& model, const QuantizationPlan& plan) {
  return Applier(model, plan).apply();
}

}  // namespace tersor::ptq
