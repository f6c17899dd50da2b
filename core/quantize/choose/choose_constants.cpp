// SPDX-License-Identifier: Apache-2.0
#include "core/choose/choose_constants.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/choose/table_weight.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/recurrent_weights.h"
#include "core/graph/uses.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

namespace {

/// The axes that there may be a range for each place of; none stands for one range for the whole constant.
using Axes = std::vector<std::optional<int>>;

Axes long_axes(const Shape& shape) {
  Axes axes;
  for (int k = 0; k < shape.rank(); ++k)
    if (shape[k] != 1) axes.push_back(k);
  return axes.empty() ? Axes{std::nullopt} : axes;
}

/// Even steps. Error kInvalidModel with the constant's name for one that is not finite.
quant::WeightSelection even_steps(const Graph& graph, ValueId value, const tpc::AttributeQuantizationConfig& how,
                                  bool narrow, std::optional<int> axis, const quant::Criterion& criterion) {
  try {
    return quant::choose_weight_params(*graph.initializer(value), quant::even_form(how.weights_quantization_method),
                                       {how.weights_n_bits, true, narrow}, axis, criterion);
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidModel) throw;
    throw error.within("graph.initializer \"" + graph.name_of(value) + "\"");
  }
}

/// Adds the parameters with the axis that leaves the least error.
void choose(const Graph& graph, const framework::WeightAttribute& weight, const Axes& axes, bool narrow,
            bool beside_quantized, const quant::Criterion& criterion, ConstantPlan& plan) {
  const tpc::AttributeQuantizationConfig& how = weight.config;
  std::optional<double> best;
  const auto is_best = [&best](double sqnr_db) {
    if (best && sqnr_db <= *best) return false;
    best = sqnr_db;
    return true;
  };
  for (const std::optional<int> axis : axes)
    if (how.weights_by_table()) {
      auto found = choose_table(graph, weight.value, how, axis, beside_quantized, criterion);
      if (!is_best(found.expected_sqnr_db)) continue;
      plan.params = even_params(found.params);
      plan.table = std::move(found.params);
    } else {
      auto found = even_steps(graph, weight.value, how, narrow, axis, criterion);
      if (is_best(found.expected_sqnr_db)) plan.params = std::move(found.params);
    }
  plan.is_packed = plan.table && !plan.by_row && !beside_quantized;
}

/// A scale for each block of a row of the table.
void choose_row_blocks(const Graph& graph, const framework::WeightAttribute& weight, const tpc::ExportRules& rules,
                       const quant::Criterion& criterion, ConstantPlan& plan) {
  const Tensor table = graph.initializer(weight.value)->aligned();
  quant::BlockParams params;
  params.method = quant::even_form(weight.config.weights_quantization_method);
  params.grid = {weight.config.weights_n_bits, true, false};
  params.allows_negative = params.method != quant::QuantizationMethod::kUniform;
  params.half_scales = rules.half_scales;
  params.size = *weight.config.weights_block_size;
  params.columns = table.shape()[1];
  try {
    plan.blocks = quant::choose_blocks(table.data<float>(), std::move(params), criterion);
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidModel) throw;
    throw error.within("graph.initializer \"" + graph.name_of(weight.value) + "\"");
  }
  plan.params.grid = plan.blocks->grid;
}

/// A table of this many numbers or more is worth the nodes that restore its rows in each run; one of so many those that
/// restore it once.
constexpr int64_t kLargeTable = 16384, kTable = 1024;
/// A scale for each row is then at most a quarter of what the codes take.
constexpr int64_t kShortestRow = 16;

/// From a table of two axes.
bool gathers_rows(const Node& node) {
  if (!node.is("Gather")) return false;
  const int64_t axis = int_of(node, "axis");
  return axis == 0 || axis == -2;
}

/// Whether the constant is a large matrix that nothing but Gathers of whole rows read.
bool is_embedding(const Graph& graph, const Uses& uses, ValueId value, int64_t least) {
  const Tensor& table = *graph.initializer(value);
  if (table.shape().rank() != 2 || table.elements() < least || table.shape()[1] < kShortestRow) return false;
  if (uses.is_output(value)) return false;
  const auto& readers = uses.reader_indices(value);
  return std::all_of(readers.begin(), readers.end(), [&](size_t index) {
    const Node& node = graph.nodes()[index];
    return node.inputs[0] == value && gathers_rows(node);
  });
}

/// Whether a constant of the node is a weight of a recurrent layer that is long enough for a range along axis 1.
bool is_recurrent_weight(const Node& node, const Shape& shape) {
  const int64_t length = shape.rank() == 3 ? shape[2] : shape.rank() == 2 ? shape[0] : 0;
  return length >= kShortestRow && !recurrent_weights(node).empty();
}

/// The parameters of the table's rows that a kernel's integers have.
std::optional<ConstantPlan> tied_plan(const Graph& graph, const Node& node, const framework::WeightAttribute& weight,
                                      bool by_row, const QuantizationPlan& plan) {
  const Tensor& table = *graph.initializer(weight.value);
  if (table.shape().rank() != 2 || table.elements() < kShortestRow || !gathers_rows(node)) return std::nullopt;
  for (const KernelPlan& kernel : plan.kernels) {
    const bool is_plain = !kernel.table && !kernel.blocks && kernel.weight.storage() == DType::kInt8 &&
                          kernel.weight.grid.n_bits == 8 && weight.config.weights_n_bits == 8 &&
                          !weight.config.weights_by_table();
    if (!is_plain || !has_rows_of(table, *graph.initializer(kernel.op.weight), kernel.op)) continue;
    ConstantPlan tied{node.id, weight.input, kernel.weight, by_row};
    if (tied.params.per_channel()) tied.params.channel_axis = 0;
    tied.tied = kernel.node;
    return tied;
  }
  return std::nullopt;
}

/// A runtime that moves quantizers over a Gather, but gathers no integers, has the table restored before it.
bool restores_table(const framework::NodeAttachment& attached) {
  return attached.activation == framework::ActivationMode::kPreserveQuant &&
         attached.kernel == tpc::RuntimeKernel::kFloat;
}

}  // namespace

bool has_rows_of(const Tensor& table, const Tensor& weight, const passes::KernelOp& op) {
  const int64_t rows = table.shape()[0], length = table.shape()[1];
  if (op.is_conv || op.outputs != rows || op.inputs != length) return false;
  const Tensor a = table.aligned(), b = weight.aligned();
  const auto t = a.data<float>(), w = b.data<float>();
  for (int64_t o = 0, k = 0; o < rows; ++o)
    for (int64_t i = 0; i < length; ++i, ++k)
      if (t[static_cast<size_t>(k)] != w[op.at(o, i, 0)]) return false;
  return true;
}

Tensor read_back(const ConstantPlan& plan, const Tensor& values) {
  const Tensor exact = values.aligned();
  if (!plan.blocks) return quant::dequantize(quant::quantize(exact, plan.params), plan.params);
  const std::vector<float> rows = quant::dequantize(quant::quantize(exact.data<float>(), *plan.blocks), *plan.blocks);
  return Tensor::of<float>(exact.shape(), rows);
}

std::vector<StoredConstant> constants_to_store(const Graph& graph, const framework::Attachment& attachment) {
  std::vector<StoredConstant> list;
  const bool all = attachment.export_rules.placement == tpc::Placement::kOutputs;
  const int64_t least = attachment.input_config.enable_activation_quantization ? kLargeTable : kTable;
  const Uses uses(graph);
  for (const Node& node : graph.nodes()) {
    const framework::NodeAttachment& attached = attachment.of(node.id);
    for (const framework::WeightAttribute& weight : attached.weights) {
      if (weight.name != tpc::kPosAttr || !weight.config.enable_weights_quantization) continue;
      const Tensor& constant = *graph.initializer(weight.value);
      if (constant.elements() == 0) continue;
      StoredConstant one{node, weight};
      one.is_table = is_embedding(graph, uses, weight.value, least);
      one.by_row = !all && one.is_table && !restores_table(attached);
      one.is_recurrent = is_recurrent_weight(node, constant.shape());
      const bool is_cut = node.is("Slice") && weight.input == 0 && constant.elements() >= kLargeTable;
      if (all || one.is_table || one.is_recurrent || is_cut) list.push_back(one);
    }
  }
  return list;
}

namespace {

/// Tables that are too small to be worth nodes of their own, but whose integers a kernel has anyway: in float they
/// would be there twice.
void add_small_tied(const Graph& graph, const framework::Attachment& attachment, const QuantizationPlan& plan,
                    std::vector<ConstantPlan>& plans) {
  const Uses uses(graph);
  for (const Node& node : graph.nodes()) {
    const framework::NodeAttachment& attached = attachment.of(node.id);
    for (const framework::WeightAttribute& weight : attached.weights) {
      const bool is_planned = std::any_of(plans.begin(), plans.end(), [&](const ConstantPlan& one) {
        return one.node == node.id && one.input == weight.input;
      });
      if (is_planned || weight.name != tpc::kPosAttr || !weight.config.enable_weights_quantization) continue;
      if (!is_embedding(graph, uses, weight.value, kTable)) continue;
      if (auto tied = tied_plan(graph, node, weight, !restores_table(attached), plan))
        plans.push_back(std::move(*tied));
    }
  }
}

}  // namespace

std::vector<ConstantPlan> choose_constants(const Graph& graph, const framework::Attachment& attachment,
                                           const config::QuantizationConfig& config, const QuantizationPlan& plan) {
  std::vector<ConstantPlan> plans;
  for (const StoredConstant& one : constants_to_store(graph, attachment)) {
    const tpc::AttributeQuantizationConfig& how = one.weight.config;
    if (auto tied = tied_plan(graph, one.node, one.weight, one.by_row, plan)) {
      plans.push_back(std::move(*tied));
      continue;
    }
    const Axes axes = !how.weights_per_channel_threshold ? Axes{std::nullopt}
                      : one.is_table                     ? Axes{0}
                      : one.is_recurrent                 ? Axes{1}
                                                         : long_axes(graph.initializer(one.weight.value)->shape());
    const std::vector<ValueId>& inputs = one.node.inputs;
    const bool beside_quantized =
        std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) { return plan.find(id) != nullptr; });
    ConstantPlan chosen{one.node.id, one.weight.input, {}, one.by_row};
    const quant::Criterion criterion =
        attachment.of(one.node.id).weights_criterion.value_or(config.weights_criterion());
    if (how.weights_block_size && one.by_row)
      choose_row_blocks(graph, one.weight, attachment.export_rules, criterion, chosen);
    else
      choose(graph, one.weight, axes, attachment.export_rules.narrow_weights, beside_quantized, criterion, chosen);
    plans.push_back(std::move(chosen));
  }
  add_small_tied(graph, attachment, plan, plans);
  return plans;
}

}  // namespace tersor::ptq
