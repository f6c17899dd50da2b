// SPDX-License-Identifier: Apache-2.0
#include "core/choose/choose_activations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/base/error.h"
#include "core/choose/pad_fillers.h"
#include "core/framework/batch_range.h"
#include "core/graph/uses.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

using framework::Attachment;
using quant::Histogram;
using quant::IntegerGrid;
using quant::QuantizationMethod;
using quant::QuantizationParams;
using tpc::OpQuantizationConfig;

namespace {

/// Empty where the tensor was empty in every sample, as past keys before the first token are.
const calibrate::TensorStatistics& seen_of(const Graph& graph, ValueId value, const calibrate::Statistics& statistics) {
  const calibrate::TensorStatistics* found = statistics.find(graph.name_of(value));
  if (found == nullptr || (found->histogram.empty() && found->elements != 0))
    throw Error(ErrorCode::kMismatch, "The statistics say nothing about the tensor \"" + graph.name_of(value) + "\".",
                "statistics", "Calibrate this model with samples, with the same settings.");
  return *found;
}

/// What the tensors of a group were seen to hold together.
struct Seen {
  Histogram histogram;
  quant::Range mean_extremes;
  std::vector<calibrate::SampleExtremes> by_sample;

  void add(const calibrate::TensorStatistics& tensor) {
    if (tensor.histogram.empty()) return;
    const quant::Range mean = tensor.mean_extremes();
    mean_extremes = histogram.empty()
                        ? mean
                        : quant::Range{std::min(mean_extremes.low, mean.low), std::max(mean_extremes.high, mean.high)};
    histogram.merge(tensor.histogram);
    for (const calibrate::SampleExtremes& one : tensor.extremes.by_sample) {
      const auto at = std::lower_bound(by_sample.begin(), by_sample.end(), one.sample,
                                       [](const auto& known, uint64_t sample) { return known.sample < sample; });
      if (at == by_sample.end() || at->sample != one.sample)
        by_sample.insert(at, one);
      else
        *at = {one.sample, std::min(at->low, one.low), std::max(at->high, one.high)};
    }
  }
};

/// The range of a quantizer that follows the samples in their order.
quant::Range followed(const framework::LayerQuantizer& quantizer,
                      const std::vector<calibrate::SampleExtremes>& samples) {
  framework::BatchRange range(quantizer);
  const auto step = static_cast<size_t>(*quantizer.batch_size);
  for (size_t begin = 0; begin < samples.size(); begin += step) {
    double low = samples[begin].low, high = samples[begin].high;
    for (size_t k = begin; k < std::min(begin + step, samples.size()); ++k)
      low = std::min<double>(low, samples[k].low), high = std::max<double>(high, samples[k].high);
    range.see(low, high);
  }
  return range.range();
}

/// What a QuantizeConfig says of the range of a value: of the node that makes it, or of one before its clamps.
const framework::LayerQuantizer* quantizer_of(const Graph& graph, const Uses& uses, const Attachment& attachment,
                                              const Placement& placement, ValueId value) {
  for (auto index = uses.producer_index(value); index; index = uses.producer_index(value)) {
    const Node& node = graph.nodes()[*index];
    const auto& quantizers = attachment.of(node.id).output_quantizers;
    const auto output = std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin();
    if (!quantizers.empty()) return &quantizers[std::min(static_cast<size_t>(output), quantizers.size() - 1)];
    value = node.inputs[0];
    if (placement.roles[*index].role != Role::kClamp) break;
  }
  return nullptr;
}

/// Of the node that makes the value; null when none does. After a clamp that the platform or the settings quantize
/// nothing after it, and after an operator that preserves, the one before it counts.
const framework::NodeAttachment* maker_of(const Graph& graph, const Uses& uses, const Attachment& attachment,
                                          const Placement& placement, ValueId value) {
  for (auto index = uses.producer_index(value); index; index = uses.producer_index(value)) {
    const Node& node = graph.nodes()[*index];
    const framework::NodeAttachment& attached = attachment.of(node.id);
    const bool is_clamp = placement.roles[*index].role == Role::kClamp;
    const bool passes =
        is_clamp ? !attached.config().enable_activation_quantization : attached.config().quantization_preserving;
    const std::vector<ValueId> from =
        is_clamp ? std::vector<ValueId>{node.inputs[0]} : value_inputs(node, placement.roles[*index].role);
    const bool before = from.size() == 1 && from[0].valid() && graph.initializer(from[0]) == nullptr &&
                        (!is_clamp || uses.producer_index(from[0]));
    if (!passes || !attached.output_quantizers.empty() || !before) return &attached;
    value = from[0];
  }
  return nullptr;
}

/// What the group's values stay within: what the operators that make them can give.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool of_clip = false;
  bool is_output = false;

  void narrow(const framework::ValueBounds& known) {
    if (known.low) low = std::max(low, *known.low);
    if (known.high) high = std::min(high, *known.high);
  }
  /// Both ends are known and the values come near one, so that there is nothing to search for. A Clip whose inputs stay
  /// far below its bound would waste codes (3.3), and so would a Softmax over many places; what the model gives out
  /// (of anything but a Clip) may reach further another time.
  bool decide(const quant::Range& seen) const {
    if (!std::isfinite(low) || !std::isfinite(high) || low >= high) return false;
    const double near = of_clip ? 0.5 : 0.4;
    return (is_output && !of_clip) || seen.high >= near * high || (low < 0 && seen.low <= near * low);
  }
};

/// For what is 0 or empty in every sample, and says nothing of its range. A state, or what a gate opens later, often
/// stays within 1; and the biases after so small a step keep their digits.
quant::Range unseen_range(const Bounds& known) {
  const quant::Range range{std::clamp(known.low, -1.0, 0.0), std::clamp(known.high, 0.0, 1.0)};
  return range.low == range.high ? quant::Range{range.low, 1} : range;
}

struct Chosen {
  QuantizationParams params;
  std::optional<quant::LutParams> table = {};
};

/// `known`: what the operators that make the tensor can give.
Chosen choose(const Seen& group, const OpQuantizationConfig& op, const Bounds& known, bool signed_storage,
              const quant::Criterion& criterion, quant::RangeMemo& ranges) {
  constexpr int kEntryBits = 8;
  const Histogram& histogram = group.histogram;
  const QuantizationMethod method = quant::even_form(op.activation_quantization_method);
  const quant::Range seen{histogram.min(), histogram.max()};
  const bool unseen = seen.low == 0 && seen.high == 0;
  const bool by_table = op.activation_by_table() && !unseen;
  const bool decided = !unseen && known.decide(seen);
  quant::Range range = unseen ? unseen_range(known) : decided ? quant::Range{known.low, known.high} : seen;
  IntegerGrid grid{by_table ? kEntryBits : op.activation_n_bits, false, false};
  const bool even = method != QuantizationMethod::kUniform;
  if (even)
    grid.is_signed =
        op.signedness == tpc::Signedness::kSigned || (op.signedness == tpc::Signedness::kAuto && range.low < 0);
  if (unseen && even) range = {grid.is_signed ? -1.0 : 0.0, 1.0};
  if (decided) {
    range = quant::quantizer_of(method).cover(known.low, known.high, grid, criterion.min_threshold);
  } else if (!unseen) {
    const quant::Range limits{std::max(known.low, seen.low), std::min(known.high, seen.high)};
    range = ranges.select(histogram, method, grid, criterion, limits, group.mean_extremes).range;
  }
  Chosen chosen{quant::params_of_ranges(method, grid, std::span(&range, 1))};
  if (by_table) {
    const quant::LutValues values{kEntryBits, grid.is_signed};
    const double threshold = std::ldexp(static_cast<double>(chosen.params.scale[0]), kEntryBits - grid.is_signed);
    chosen.params.method = op.activation_quantization_method;
    chosen.table = quant::lut_activation_params(quant::bins_of(histogram), op.activation_quantization_method,
                                                op.activation_n_bits, values, threshold);
  }
  chosen.params = quant::with_sign(std::move(chosen.params), signed_storage && !by_table);
  return chosen;
}

/// The range that a QuantizeConfig's quantizer takes.
QuantizationParams choose_by(const framework::LayerQuantizer& quantizer, const Seen& group,
                             const OpQuantizationConfig& op, bool signed_storage) {
  quant::Range range{group.histogram.min(), group.histogram.max()};
  if (quantizer.source == framework::RangeSource::kFixed) range = {*quantizer.init_min, *quantizer.init_max};
  if (quantizer.source == framework::RangeSource::kMovingAverage) range = group.mean_extremes;
  if (quantizer.batch_size && !group.by_sample.empty()) range = followed(quantizer, group.by_sample);
  range = framework::shape_range(quantizer, range.low, range.high);
  IntegerGrid grid{op.activation_n_bits, quantizer.is_symmetric(), quantizer.narrow_range};
  if (quantizer.is_symmetric()) range = {std::min(range.low, -range.high), std::max(range.high, -range.low)};
  QuantizationParams params = quant::params_of_ranges(op.activation_quantization_method, grid, std::span(&range, 1));
  // A narrow grid has no unsigned form.
  return grid.narrow && grid.is_signed ? params : quant::with_sign(std::move(params), signed_storage);
}

}  // namespace

std::vector<ActivationPlan> choose_activations(const Graph& graph, const Attachment& attachment,
                                               const Placement& placement, const calibrate::Statistics& statistics,
                                               const config::QuantizationConfig& config, quant::RangeMemo* ranges) {
  quant::RangeMemo none;
  const Uses uses(graph);
  const bool signed_storage = attachment.export_rules.signed_activations;
  std::vector<Seen> groups(placement.groups);
  std::vector<const OpQuantizationConfig*> first(placement.groups), fixed(placement.groups);
  std::vector<quant::Criterion> criteria(placement.groups, config.activation_criterion());
  std::vector<Bounds> bounds(placement.groups);
  std::vector<const framework::LayerQuantizer*> asked(placement.groups);
  const PadFillers fillers(graph, uses, placement);
  std::vector<bool> joined(placement.groups);  // several tensors come together: the bounds of one are not those of all
  for (const PlacedTensor& tensor : placement.tensors) {
    const calibrate::TensorStatistics& seen = seen_of(graph, tensor.value, statistics);
    if (!fillers.is_passed_over(tensor)) groups[tensor.group].add(seen);
    bounds[tensor.group].is_output |= uses.is_output(tensor.value);
    const framework::NodeAttachment* const attached = maker_of(graph, uses, attachment, placement, tensor.value);
    const OpQuantizationConfig& op = attached != nullptr ? attached->config() : attachment.input_config;
    if (tensor.value == graph.inputs[0]) bounds[tensor.group].narrow(attachment.picture_bounds);
    if (const auto maker = uses.producer_index(tensor.value)) {
      const Node& node = graph.nodes()[*maker];
      bounds[tensor.group].narrow(attachment.of(node.id).bounds);
      bounds[tensor.group].of_clip |= node.is("Clip");
      if (placement.roles[*maker].role == Role::kMover && value_inputs(node, Role::kMover).size() > 1)
        joined[tensor.group] = true;
    }
    if (first[tensor.group] == nullptr && attached != nullptr && attached->activation_criterion)
      criteria[tensor.group] = *attached->activation_criterion;
    if (first[tensor.group] == nullptr) first[tensor.group] = &op;
    const bool is_fixed = attached != nullptr ? has_fixed_range(*attached) : op.fixed_scale.has_value();
    if (fixed[tensor.group] == nullptr && is_fixed) fixed[tensor.group] = &op;
    const framework::LayerQuantizer* quantizer = quantizer_of(graph, uses, attachment, placement, tensor.value);
    if (asked[tensor.group] == nullptr && quantizer != nullptr) {
      asked[tensor.group] = quantizer;
      first[tensor.group] = &op;
    }
  }
  std::vector<Chosen> chosen(placement.groups);
  for (size_t g = 0; g < placement.groups; ++g) {
    if (joined[g]) bounds[g] = {};
    const OpQuantizationConfig* op = fixed[g];
    if (op != nullptr)
      chosen[g].params = quant::fixed_params(quant::even_form(op->activation_quantization_method),
                                             {op->activation_n_bits, signed_storage, false}, *op->fixed_scale,
                                             op->fixed_zero_point.value_or(0));
    else if (asked[g] != nullptr)
      chosen[g].params = choose_by(*asked[g], groups[g], *first[g], signed_storage);
    else
      chosen[g] =
          choose(groups[g], *first[g], bounds[g], signed_storage, criteria[g], ranges != nullptr ? *ranges : none);
  }
  const auto is_passed_on = [&](const PlacedTensor& tensor) {
    const auto maker = uses.producer_index(tensor.value);
    if (!maker || placement.roles[*maker].role != Role::kMover) return false;
    const std::vector<ValueId> from = value_inputs(graph.nodes()[*maker], Role::kMover);
    return std::all_of(from.begin(), from.end(), [&](ValueId id) {
      const PlacedTensor* other = placement.find(id);
      return other != nullptr && other->group == tensor.group;
    });
  };
  std::vector<ActivationPlan> plans;
  for (const PlacedTensor& tensor : placement.tensors) {
    const Histogram& seen = groups[tensor.group].histogram;
    const Chosen& of_group = chosen[tensor.group];
    const bool is_edge = attachment.integer_outputs && uses.is_output(tensor.value);
    plans.push_back({tensor,
                     of_group.params,
                     {seen.min(), seen.max()},
                     fixed[tensor.group] != nullptr,
                     of_group.table,
                     of_group.table && is_passed_on(tensor),
                     attachment.preserving_quantizers == false && !is_edge && is_passed_on(tensor)});
  }
  return plans;
}

}  // namespace tersor::ptq
