// SPDX-License-Identifier: Apache-2.0
#include "core/choose/choose_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/choose/block_weight.h"
#include "core/choose/input_mean_shift.h"
#include "core/choose/table_weight.h"
#include "core/choose/window_coverage.h"
#include "core/passes/edit.h"
#include "core/quant/quantizer.h"
#include "core/quant/quantizers/quantizers.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

using passes::KernelOp;
using quant::QuantizationParams;

namespace {

/// To begin with a bias stays below this in int32, so that corrections and the products have as much room again.
constexpr double kLargestBias = 1 << 30;

quant::Criterion criterion_of(NodeId node, const WeightContext& context) {
  return context.attachment.of(node).weights_criterion.value_or(context.config.weights_criterion());
}

/// A QuantizeConfig's quantizer: a fixed range, or the extremes of the weight.
QuantizationParams params_by(const framework::LayerQuantizer& quantizer, const Tensor& weight,
                             quant::QuantizationMethod method, const quant::IntegerGrid& grid, std::optional<int> axis,
                             const quant::Criterion& criterion) {
  if (quantizer.source != framework::RangeSource::kFixed) {
    quant::Criterion extremes = criterion;
    extremes.method = quant::ThresholdSelectionMethod::kNoClipping;
    return quant::choose_weight_params(weight, method, grid, axis, extremes).params;
  }
  quant::Range range = framework::shape_range(quantizer, *quantizer.init_min, *quantizer.init_max);
  if (quantizer.is_symmetric()) range = {std::min(range.low, -range.high), std::max(range.high, -range.low)};
  return quant::params_of_ranges(method, grid, std::span(&range, 1));
}

/// An integer kernel reads blocks as levels of 8 bits. Weights of 8 bits gain nothing by that.
bool reads_levels(const framework::WeightAttribute& attribute, const WeightContext& context) {
  const tpc::AttributeQuantizationConfig& config = attribute.config;
  return config.weights_block_size && !config.weights_by_table() && context.input_params != nullptr &&
         config.weights_n_bits < quant::kBitsOfLevels && tpc::folds(context.attachment.export_rules.float_weights);
}

/// True if the kernel computes in integers and its weight has as many bits as levels.
bool keeps_rows(const framework::WeightAttribute& attribute, const WeightContext& context) {
  return context.input_params != nullptr && attribute.config.weights_n_bits == quant::kBitsOfLevels &&
         tpc::folds(context.attachment.export_rules.float_weights);
}

/// An integer kernel takes no zero points but those of blocks, of which the weight has too few inputs.
bool lost_blocks(NodeId node, const framework::WeightAttribute& attribute, const WeightContext& context) {
  return context.input_params != nullptr && !attribute.config.weights_block_size &&
         context.attachment.of(node).config().attribute_config(tpc::kKernelAttr).weights_block_size &&
         attribute.config.weights_quantization_method == quant::QuantizationMethod::kUniform;
}

/// A scale for each output, at which its largest weight is the largest level.
QuantizationParams params_of_levels(const KernelOp& op, const Tensor& weight, quant::QuantizationMethod method,
                                    quant::Criterion criterion) {
  criterion.method = quant::ThresholdSelectionMethod::kNoClipping;
  if (method != quant::QuantizationMethod::kPowerOfTwo) method = quant::QuantizationMethod::kSymmetric;
  return quant::choose_weight_params(weight, method, {quant::kBitsOfLevels, true, true}, op.output_axis, criterion)
      .params;
}

QuantizationParams weight_params(NodeId node, const KernelOp& op, const Tensor& weight,
                                 const framework::WeightAttribute& attribute, const WeightContext& context) {
  const tpc::AttributeQuantizationConfig& config = attribute.config;
  quant::QuantizationMethod method = quant::even_form(config.weights_quantization_method);
  if (lost_blocks(node, attribute, context)) method = quant::QuantizationMethod::kSymmetric;
  const auto& asked = context.attachment.of(node).kernel_quantizer;
  const quant::IntegerGrid grid{config.weights_n_bits, true,
                                asked ? asked->narrow_range : context.attachment.export_rules.narrow_weights};
  // A grouped ConvTranspose shares each scale between its groups: the weight's axis has one group's channels.
  const std::optional<int> axis = config.weights_per_channel_threshold ? std::optional(op.output_axis) : std::nullopt;
  QuantizationParams params;
  try {
    if (reads_levels(attribute, context)) return params_of_levels(op, weight, method, criterion_of(node, context));
    params = asked ? params_by(*asked, weight, method, grid, axis, criterion_of(node, context))
                   : quant::choose_weight_params(weight, method, grid, axis, criterion_of(node, context)).params;
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidModel) throw;
    throw error.within("graph.initializer \"" + context.graph.name_of(op.weight) + "\"");
  }
  return params;
}

/// A scale for each block of inputs. Before an integer kernel `rows` are the scales of the outputs.
quant::BlockParams block_params(const Node& node, const KernelOp& op, const Tensor& weight,
                                const framework::WeightAttribute& attribute, const WeightContext& context,
                                const std::vector<float>& rows) {
  const tpc::AttributeQuantizationConfig& config = attribute.config;
  const bool has_levels = reads_levels(attribute, context);
  if (context.input_params != nullptr && !has_levels)
    throw Error(ErrorCode::kInvalidConfig,
                "\"" + context.graph.label_of(node) + "\" (" + node.op_type +
                    ") reads a quantized tensor, and integer kernels take one scale for each output channel, not " +
                    "blocks of " + std::to_string(*config.weights_block_size) + " inputs.",
                "config.weights_block_size",
                "Leave activations in float (enable_activation_quantization false), of this operator or of all, or "
                "leave weights_block_size unset.");
  quant::BlockParams params;
  params.method = quant::even_form(config.weights_quantization_method);
  params.grid = {config.weights_n_bits, true, false};
  params.allows_negative =
      tpc::folds(context.attachment.export_rules.float_weights) && params.method != quant::QuantizationMethod::kUniform;
  params.half_scales = context.attachment.export_rules.half_scales;
  params.size = *config.weights_block_size;
  params.columns = op.inputs_per_group() * op.taps;
  if (has_levels) params.row_scale = rows;
  try {
    return quant::choose_blocks(rows_of(op, weight), params, criterion_of(node.id, context));
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidModel) throw;
    throw error.within("graph.initializer \"" + context.graph.name_of(op.weight) + "\"");
  }
}

/// How much each output's mean changes by the rounding of the weight: sum_i eps[o, i] * mean_x[i].
std::vector<double> mean_errors(const Node& node, const KernelOp& op, const Tensor& weight, const KernelPlan& plan,
                                const calibrate::TensorStatistics& input) {
  const Tensor exact = weight.aligned();
  const Tensor rounded = read_back(plan, exact);
  const auto w = exact.data<float>(), q = rounded.data<float>();
  std::vector<double> coverage(static_cast<size_t>(op.taps), 1.0);
  if (node.is("Conv") && !input.shape_varies && input.shape.rank() == exact.shape().rank()) {
    const auto& dims = exact.shape().dims();
    coverage = window_coverage(node, input.shape, {dims.begin() + 2, dims.end()});
  }
  std::vector<double> means(input.channels.size());
  for (size_t c = 0; c < means.size(); ++c) means[c] = input.channel_mean(c);
  std::vector<double> errors(static_cast<size_t>(op.outputs), 0.0);
  for (int64_t o = 0; o < op.outputs; ++o) {
    const int64_t first_input = o / (op.outputs / op.groups) * op.inputs_per_group();
    for (int64_t i = 0; i < op.inputs_per_group(); ++i) {
      double error = 0;
      for (int64_t tap = 0; tap < op.taps; ++tap) {
        const size_t at = op.at(o, i, tap);
        error += (static_cast<double>(q[at]) - w[at]) * coverage[static_cast<size_t>(tap)];
      }
      errors[static_cast<size_t>(o)] += error * means[static_cast<size_t>(first_input + i)];
    }
  }
  return errors;
}

/// The least weight scale at which the bias fits into int32 and the product of the scales is a normal float32.
float least_scale(double bias, float input_scale) {
  const double for_bias = std::fabs(bias) / kLargestBias / input_scale;
  const double for_product = 4.0 * std::numeric_limits<float>::min() / input_scale;
  return static_cast<float>(std::max(for_bias, for_product) * 1.0001);
}

/// Raises scales that are too small, to powers of two where `in_octaves`. Returns how many.
int64_t raise_scales(bool in_octaves, KernelPlan& plan) {
  QuantizationParams& params = plan.weight;
  std::vector<bool> raised(params.scale.size(), false);
  for (size_t o = 0; o < static_cast<size_t>(plan.op.outputs); ++o) {
    const size_t k = plan.scale_index(o);
    const float least = least_scale(plan.bias.empty() ? 0 : plan.bias[o], *plan.input_scale);
    if (params.scale[k] >= least) continue;
    params.scale[k] = in_octaves ? static_cast<float>(quant::power_of_two_above(least)) : least;
    params.range[k] = params.representable(k);
    raised[k] = true;
  }
  return std::count(raised.begin(), raised.end(), true);
}

}  // namespace

KernelPlan choose_weight(const Node& node, const KernelOp& op, const WeightContext& context) {
  const Graph& graph = context.graph;
  const framework::WeightAttribute& attribute = *context.attachment.of(node.id).weight(tpc::kKernelAttr);
  const Tensor& weight = *graph.initializer(op.weight);
  KernelPlan plan;
  plan.node = node.id;
  plan.op = op;
  plan.in_float = context.input_params == nullptr;
  if (attribute.config.weights_by_table() && !context.attachment.of(node.id).kernel_quantizer) {
    const std::optional<int> axis =
        attribute.config.weights_per_channel_threshold ? std::optional(op.output_axis) : std::nullopt;
    plan.table = choose_table(graph, op.weight, attribute.config, axis, context.input_params != nullptr,
                              criterion_of(node.id, context))
                     .params;
    plan.weight = even_params(*plan.table);
    plan.is_packed = context.input_params == nullptr;
  } else if (context.known != nullptr) {
    plan.weight = *context.known;
  } else {
    plan.weight = weight_params(node.id, op, weight, attribute, context);
  }
  const bool in_blocks = attribute.config.weights_block_size && !plan.table && !keeps_rows(attribute, context);
  if (in_blocks) plan.blocks = block_params(node, op, weight, attribute, context, plan.weight.scale);
  std::vector<double> bias = *passes::bias_values(graph, op);
  const auto input_shift = input_mean_shift(node, op, context);
  for (size_t o = 0; input_shift && o < bias.size(); ++o) {
    bias[o] -= (*input_shift)[o];
    plan.input_correction = std::max(plan.input_correction, std::fabs((*input_shift)[o]));
  }
  const bool has_bias = op.bias.valid() || input_shift;
  const bool corrects = context.config.weights_bias_correction && !context.config.measures_bias() && op.can_have_bias &&
                        context.input != nullptr && static_cast<int64_t>(context.input->channels.size()) == op.inputs;
  if (op.can_have_bias && !plan.has_zero_points()) plan.input_scale = context.bias_input_scale;
  plan.integer_bias =
      plan.input_scale && context.input_params != nullptr && context.attachment.export_rules.integer_bias;
  plan.bias = has_bias ? bias : std::vector<double>{};
  const bool in_octaves =
      quant::even_form(attribute.config.weights_quantization_method) == quant::QuantizationMethod::kPowerOfTwo;
  constexpr int kRounds = 3;  // a raised scale rounds the weight anew, which moves the bias a little
  for (int round = 0; round < kRounds; ++round) {
    if (corrects) {
      const std::vector<double> errors = mean_errors(node, op, weight, plan, *context.input);
      plan.bias = bias;
      plan.largest_correction = 0;
      for (size_t o = 0; o < bias.size(); ++o) {
        plan.bias[o] -= errors[o];
        plan.largest_correction = std::max(plan.largest_correction, std::fabs(errors[o]));
      }
      if (!has_bias && plan.largest_correction == 0) plan.bias.clear();
    }
    if (!plan.input_scale) break;
    const int64_t raised = raise_scales(in_octaves, plan);
    plan.raised_channels = std::max(plan.raised_channels, raised);
    if (raised == 0) break;
    if (plan.has_levels()) plan.blocks = block_params(node, op, weight, attribute, context, plan.weight.scale);
    if (plan.table) plan.table = with_scales(*plan.table, plan.weight);
  }
  return plan;
}

}  // namespace tersor::ptq
