// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/choose/block_weight.h"
#include "core/decide/one_operand_sum.h"
#include "core/export/apply_plan.h"
#include "core/graph/quantized.h"
#include "core/graph/uses.h"
#include "core/ops/registry.h"
#include "core/passes/edit.h"
#include "core/samples/selection.h"
#include "core/sweep/round_weights.h"

namespace tersor::ptq {

namespace {

/// Samples on which biases and rounding settle. More take part where the states of all of them take few bytes: such
/// networks have few positions, whose means settle late, and are quick.
constexpr int64_t kEnough = 24, kCheapBytes = int64_t{64} << 20;
/// Of the memory for states: outputs of a kernel, of all samples, that take more than this part are computed again when
/// its shifts are known, others are kept until then.
constexpr int64_t kKeptParts = 16;

/// By channel.
std::vector<ChannelMoments> moments_of(const calibrate::TensorStatistics& seen) {
  std::vector<ChannelMoments> moments;
  for (size_t c = 0; c < seen.channels.size(); ++c)
    moments.push_back({seen.channel_mean(c), seen.channel_mean_square(c)});
  return moments;
}

}  // namespace

std::vector<ChannelMap> maps_of(std::span<const double> shifts) {
  const size_t channels = shifts.size() / 2;
  std::vector<ChannelMap> maps;
  for (size_t c = 0; c < channels; ++c) maps.push_back({shifts[channels + c], shifts[c]});
  return maps;
}

void SweepSums::add(SweepSums more) {
  inputs.add(std::move(more.inputs));
  outputs.add(more.outputs);
  in_float.add(more.in_float);
}

Sweep::Sweep(const Model& float_model, const QuantizationPlan& plan, const calibrate::Statistics& statistics,
             const SweepOptions& options)
    : options_(options), model_(apply_restored(float_model, plan)), uses_(std::make_shared<const Uses>(model_.graph)) {
  find_steps({float_model, Uses(float_model.graph), plan, statistics});
  // How many samples take part was settled when states held floats, and files depend on it.
  divide(false);
  measure_bytes(statistics);
  choose_places(float_model, statistics.samples.size());
  divide(true);
  measure_bytes(statistics);
  remake_outputs();
}

void Sweep::choose_places(const Model& float_model, size_t calibrated) {
  std::vector<size_t> open;
  for (size_t place = 0; place < calibrated; ++place)
    if (!std::binary_search(options_.left_out.begin(), options_.left_out.end(), place)) open.push_back(place);
  const auto total = static_cast<int64_t>(open.size());
  const int64_t in_memory = std::max<int64_t>(1, options_.memory / std::max<int64_t>(1, state_bytes()));
  const auto wanted = static_cast<int64_t>(std::min(options_.most_samples, open.size()));
  const int64_t enough =
      options_.effort > 1 ? total : std::max(kEnough, kCheapBytes / std::max<int64_t>(1, state_bytes()));
  const int64_t fitting = std::min({in_memory, wanted, enough});
  for (const int64_t place : samples::spread_evenly(total, std::min(total, fitting)))
    places_.push_back(open[static_cast<size_t>(place)]);
  if (places_.size() < calibrated) float_model_ = float_model;
}

/// Means of some samples are not those of all: where some are left out, the float model runs on the others as well.
std::shared_ptr<const run::Program> Sweep::float_program() const {
  if (!float_model_) return nullptr;
  run::ProgramOptions options;
  for (const Step& step : steps_)
    if (!step.rounding) options.observed.push_back(step.in_float_value);
  return run::Program::compile(*float_model_, ops::standard(), options);
}

void Sweep::measure_bytes(const calibrate::Statistics& statistics) {
  const Graph& graph = model_.graph;
  const Uses& uses = *uses_;
  for (const Step& step : steps_)
    for (const auto* list : {&step.inputs, &step.results})
      for (const ValueId value : *list) {
        const auto lookup = table_lookup(graph, uses, value);
        const auto maker = uses.producer_index(lookup ? lookup->cast->inputs[0] : value);
        const bool stored_small = maker && graph.nodes()[*maker].is("QuantizeLinear");
        const calibrate::TensorStatistics* seen =
            statistics.find(graph.name_of(stored_small ? graph.nodes()[*maker].inputs[0] : value));
        if (seen == nullptr || statistics.samples.empty()) continue;
        const auto elements = static_cast<int64_t>(seen->elements / statistics.samples.size());
        bytes_[value] = elements * (stored_small ? 1 : 4);
      }
}

void Sweep::find_steps(const Origin& from) {
  const auto& nodes = model_.graph.nodes();
  const auto& kernels = from.plan.kernels;
  const Uses& uses = *uses_;
  if (options_.effort > 0) add_shared_roundings(from, uses);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto kernel =
        std::find_if(kernels.begin(), kernels.end(), [&](const KernelPlan& one) { return one.node == nodes[i].id; });
    if (kernel == kernels.end()) continue;
    if (options_.effort > 0 && !kernel->shared)
      if (auto step = rounding_step(from, *kernel, i, uses)) steps_.push_back(std::move(*step));
    if (auto step = correcting_step(from, *kernel, i)) steps_.push_back(std::move(*step));
  }
  find_curves(from);
}

void Sweep::find_curves(const Origin& from) {
  std::vector<Step*> steps;
  std::vector<ValueId> values;
  for (Step& step : steps_)
    if (!step.rounding && !step.summed.keeps_deviation && !step.summed.clamp)
      steps.push_back(&step), values.push_back(step.in_float_value);
  const auto curves = curves_after(from.model, from.uses, from.plan, from.statistics, values);
  for (size_t k = 0; k < steps.size(); ++k) {
    if (!curves[k]) continue;
    steps[k]->summed.curve = curves[k];
    steps[k]->in_float = moments_of(*from.statistics.find(from.model.graph.name_of(curves[k]->to)));
  }
}

void Sweep::add_shared_roundings(const Origin& from, const Uses& uses) {
  const Graph& float_graph = from.model.graph;
  const QuantizationPlan& plan = from.plan;
  const auto is_tied = [&](const KernelPlan& kernel) {
    return std::any_of(plan.constants.begin(), plan.constants.end(),
                       [&](const ConstantPlan& constant) { return constant.tied == kernel.node; });
  };
  const auto& nodes = model_.graph.nodes();
  for (const KernelPlan& first : plan.kernels) {
    // A table's rows are best each nearest to its own.
    if (first.shared != first.node || is_tied(first)) continue;
    std::optional<Step> shared;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const KernelPlan* kernel = plan.find(nodes[i].id);
      if (kernel == nullptr || kernel->shared != first.node) continue;
      auto step = rounding_step(from, *kernel, i, uses);
      if (!step || !step->node || !step->rounding->gram.steps.empty()) continue;
      const bool is_like = nodes[i].attributes == float_graph.find(first.node)->attributes;
      const bool is_counted = shared && std::count(shared->results.begin(), shared->results.end(), step->output) != 0;
      if (!is_like || is_counted) continue;
      const int32_t zero_point = step->rounding->gram.zero_point;
      step->results = {step->output};
      if (!shared)
        shared = std::move(step);
      else
        shared->results.push_back(step->output);
      shared->rounding->zero_points.push_back(zero_point);
    }
    if (!shared) continue;
    // Under the first kernel's name, whose integers they are, whichever of them have inputs that can be counted.
    shared->rounding->name = float_graph.name_of(first.op.weight);
    shared->rounding->weight = *float_graph.initializer(first.op.weight);
    shared->rounding->plan = first;
    steps_.push_back(std::move(*shared));
  }
}

std::optional<std::pair<ValueId, ValueId>> Sweep::stored_weight(const Uses& uses, const Node& node,
                                                                const KernelPlan& kernel) const {
  auto maker = uses.producer_index(node.inputs[kernel.op.weight_slot]);
  if (maker && kernel.blocks && model_.graph.nodes()[*maker].is("Reshape"))
    maker = uses.producer_index(model_.graph.nodes()[*maker].inputs[0]);
  if (!maker || !model_.graph.nodes()[*maker].is("DequantizeLinear")) return std::nullopt;
  const Node& restores = model_.graph.nodes()[*maker];
  return std::pair(restores.inputs[0], restores.inputs[1]);
}

std::optional<Sweep::Step> Sweep::rounding_step(const Origin& from, const KernelPlan& kernel, size_t node_index,
                                                const Uses& uses) const {
  const Graph& float_graph = from.model.graph;
  const QuantizationPlan& plan = from.plan;
  const Graph& graph = model_.graph;
  const Node& node = graph.nodes()[node_index];
  const ActivationPlan* input = plan.find(float_graph.find(kernel.node)->inputs[0]);
  if (input == nullptr) return float_rounding_step(from, kernel, node_index, uses);
  if (input->params.per_channel() || bits_of(input->params.storage()) != 8 || kernel.op.is_transposed ||
      bits_of(kernel.weight.storage()) != 8)
    return std::nullopt;
  auto restores = uses.producer_index(node.inputs[0]);
  if (restores && is_one_operand_sum(graph.nodes()[*restores]))  // what keeps the runtime from an integer kernel
    restores = uses.producer_index(graph.nodes()[*restores].inputs[0]);
  const auto weight = stored_weight(uses, node, kernel);
  if (!restores || !graph.nodes()[*restores].is("DequantizeLinear") || !weight) return std::nullopt;
  const ValueId codes = graph.nodes()[*restores].inputs[0];
  Step step;
  step.node = uses.producer_index(codes);
  step.output = codes;
  const Tensor& values = *float_graph.initializer(kernel.op.weight);
  step.rounding = Rounding{float_graph.name_of(kernel.op.weight),           values,        kernel,
                           GramKernel(node, kernel, values, input->params), weight->first, weight->second};
  return step;
}

std::optional<Sweep::Step> Sweep::float_rounding_step(const Origin& from, const KernelPlan& kernel, size_t node_index,
                                                      const Uses& uses) const {
  const Graph& float_graph = from.model.graph;
  const ValueId input = float_graph.find(kernel.node)->inputs[0];
  const calibrate::TensorStatistics* seen = from.statistics.find(float_graph.name_of(input));
  const Node& node = model_.graph.nodes()[node_index];
  const auto weight = stored_weight(uses, node, kernel);
  if (seen == nullptr || !weight || kernel.op.is_transposed || bits_of(kernel.weight.storage()) != 8)
    return std::nullopt;
  Step step;
  step.node = uses.producer_index(node.inputs[0]);
  step.output = node.inputs[0];
  const Tensor& values = *float_graph.initializer(kernel.op.weight);
  step.rounding = Rounding{float_graph.name_of(kernel.op.weight),   values,        kernel,
                           GramKernel(node, kernel, values, *seen), weight->first, weight->second};
  return step;
}

std::optional<Sweep::Step> Sweep::correcting_step(const Origin& from, const KernelPlan& kernel, size_t node) const {
  const Graph& float_graph = from.model.graph;
  if (!kernel.op.can_have_bias || (options_.deviations_only && !kernel.keeps_deviation)) return std::nullopt;
  // By its name in the float graph: a clamp that folds away, or a quantizer, may have taken over the kernel's output.
  Step step;
  step.node = node;
  step.in_float_value = float_graph.find(kernel.node)->outputs[0];
  step.name = float_graph.name_of(step.in_float_value);
  step.output = model_.graph.nodes()[node].outputs[0];
  const auto seen_of = [&](ValueId value) {
    const calibrate::TensorStatistics* seen = from.statistics.find(float_graph.name_of(value));
    return seen != nullptr && static_cast<int64_t>(seen->channels.size()) == kernel.op.outputs ? seen : nullptr;
  };
  const calibrate::TensorStatistics* seen = seen_of(step.in_float_value);
  std::optional<ClampBounds> clamp;
  if (const auto reader = passes::sole_reader(float_graph, from.uses, step.in_float_value);
      reader && !kernel.keeps_deviation) {
    const Node& next = float_graph.nodes()[*reader];
    const auto bounds = clamp_bounds(float_graph, next);
    if (const auto* after = bounds ? seen_of(next.outputs[0]) : nullptr) {
      clamp = bounds;
      seen = after;
    }
  }
  if (seen == nullptr) return std::nullopt;
  step.summed = {seen->channel_axis, kernel.keeps_deviation, clamp};
  step.in_float = moments_of(*seen);
  return step;
}

bool Sweep::is_remade(const Node& node) const {
  return node.is("DequantizeLinear");
}

/// QuantizeLinear nodes that turn the value into integers, with nothing but constants beside it on the way; none where
/// it is read by something else too.
std::vector<size_t> Sweep::quantizers_after(ValueId value) const {
  const Graph& graph = model_.graph;
  std::vector<size_t> found;
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId one = open.back();
    open.pop_back();
    if (uses_->is_output(one)) return {};
    for (const size_t reader : uses_->reader_indices(one)) {
      const Node& node = graph.nodes()[reader];
      const auto& reads = uses_->reads(reader);
      const bool alone = std::all_of(reads.begin(), reads.end(), [&](ValueId other) {
        return !other.valid() || other == one || graph.initializer(other) != nullptr;
      });
      if (!alone || node.outputs.size() != 1) return {};
      if (node.is("QuantizeLinear"))
        found.push_back(reader);
      else
        open.push_back(node.outputs[0]);
    }
  }
  return found;
}

/// Gives every node to the first step that needs it, and to each step the values that it takes from earlier ones.
/// `soon`: what a step corrects is quantized in the next one, whoever reads it, so that no state holds it as floats.
void Sweep::divide(bool soon) {
  const Graph& graph = model_.graph;
  const auto& nodes = graph.nodes();
  std::vector<bool> made(nodes.size(), false);
  std::map<ValueId, size_t> last_need, maker_step;
  std::vector<ValueId> corrected;  // and perhaps not quantized yet
  kept_inputs_.clear();
  for (Step& step : steps_) {
    step.inputs.clear(), step.dropped.clear();
    // Those of a weight that several kernels share are what it is counted over.
    if (!step.rounding || !step.rounding->is_shared()) step.results.clear();
  }
  for (size_t k = 0; k < steps_.size(); ++k) {
    Step& step = steps_[k];
    std::set<size_t> part;
    std::set<ValueId> taken;
    std::vector<size_t> open;
    const bool is_shared = step.rounding && step.rounding->is_shared();
    if (is_shared)
      for (const ValueId value : step.results) open.push_back(*uses_->producer_index(value));
    else if (step.node && !made[*step.node])
      open.push_back(*step.node);
    else
      taken.insert(step.output);
    if (soon && k > 0 && !steps_[k - 1].rounding) corrected.push_back(steps_[k - 1].output);
    if (!open.empty())
      for (const ValueId value : std::exchange(corrected, {}))
        for (const size_t quantizer : quantizers_after(value))
          if (!made[quantizer]) open.push_back(quantizer);
    while (!open.empty()) {
      const size_t index = open.back();
      open.pop_back();
      if (!part.insert(index).second) continue;
      for (const ValueId value : uses_->reads(index)) {
        if (!value.valid() || graph.initializer(value) != nullptr) continue;
        const auto maker = uses_->producer_index(value);
        if (maker && (!made[*maker] || is_remade(nodes[*maker])))
          open.push_back(*maker);
        else
          taken.insert(value);
      }
    }
    step.inputs.assign(taken.begin(), taken.end());
    for (const ValueId value : taken) last_need[value] = k;
    if (is_shared) continue;
    if (!part.empty()) step.results.push_back(step.output);
    for (const size_t index : part) {
      made[index] = true;
      for (const ValueId value : nodes[index].outputs)
        if (value.valid()) maker_step.emplace(value, k);
    }
  }
  for (Step& step : steps_) step.keeps_output = last_need.count(step.output) != 0;
  for (const auto& [value, last] : last_need) {
    const auto maker = maker_step.find(value);
    if (maker == maker_step.end()) {
      kept_inputs_.push_back(value);
    } else if (auto& results = steps_[maker->second].results;
               std::find(results.begin(), results.end(), value) == results.end()) {
      results.push_back(value);
    }
    steps_[last].dropped.push_back(value);
  }
}

/// What the step's output is made of, back to integers and to what the step took from earlier ones.
std::vector<ValueId> Sweep::sources_of(const Step& step) const {
  const auto& nodes = model_.graph.nodes();
  std::set<ValueId> sources, seen;
  std::vector<size_t> open = {*step.node};
  while (!open.empty()) {
    const size_t index = open.back();
    open.pop_back();
    for (const ValueId value : uses_->reads(index)) {
      if (!value.valid() || model_.graph.initializer(value) != nullptr || !seen.insert(value).second) continue;
      const auto maker = uses_->producer_index(value);
      const bool was_taken = std::find(step.inputs.begin(), step.inputs.end(), value) != step.inputs.end();
      if (maker && !was_taken && !nodes[*maker].is("QuantizeLinear"))
        open.push_back(*maker);
      else
        sources.insert(value);
    }
  }
  return {sources.begin(), sources.end()};
}

void Sweep::remake_outputs() {
  const auto holds = [](const std::vector<ValueId>& list, ValueId value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  const auto add = [&](std::vector<ValueId>& list, ValueId value) {
    if (!holds(list, value)) list.push_back(value);
  };
  const auto bytes_of = [&](ValueId value) {
    const auto found = bytes_.find(value);
    return found == bytes_.end() ? int64_t{0} : found->second;
  };
  const int64_t kept_bytes = options_.memory / kKeptParts;
  for (size_t k = 0; k + 1 < steps_.size(); ++k) {
    Step &step = steps_[k], &next = steps_[k + 1];
    const bool is_next_only = step.keeps_output && holds(next.inputs, step.output) && holds(next.dropped, step.output);
    if (step.rounding || step.results.empty() || !is_next_only || next.results.empty()) continue;
    const std::vector<ValueId> sources = sources_of(step);
    const bool kept = std::all_of(sources.begin(), sources.end(), [&](ValueId value) {
      return k == 0 || steps_[k - 1].remade_from.empty() || value != steps_[k - 1].output;
    });
    int64_t more = 0;  // bytes that are kept a step longer
    for (const ValueId value : sources) {
      const bool is_new = !holds(step.inputs, value) && !holds(step.results, value);
      if (is_new || holds(step.dropped, value)) more += is_new ? bytes_of(step.output) / 4 : bytes_of(value);
    }
    const int64_t of_all = (bytes_of(step.output) - more) * static_cast<int64_t>(places_.size());
    if (!kept || sources.empty() || more >= bytes_of(step.output) || of_all <= kept_bytes) continue;
    step.remade_from = sources;
    step.keeps_output = false;
    std::erase(next.dropped, step.output);
    for (const ValueId value : sources) {
      const bool is_new = !holds(step.inputs, value) && !holds(step.results, value);
      if (is_new) step.results.push_back(value);
      if (is_new || holds(step.dropped, value)) add(next.dropped, value);
      std::erase(step.dropped, value);
    }
  }
}

SweepProgram Sweep::program(size_t step_index) const {
  const auto compile = [&](const std::vector<ValueId>& inputs, const std::vector<ValueId>& results) {
    run::ProgramOptions options;
    options.part = run::GraphPart{inputs, results, uses_};
    return run::Program::compile(model_, ops::standard(), options);
  };
  const Step& step = steps_[step_index];
  SweepProgram program{compile(step.inputs, step.results), nullptr};
  if (step_index == 0) return program;
  const Step& before = steps_[step_index - 1];
  if (!before.remade_from.empty()) program.before = compile(before.remade_from, {before.output});
  return program;
}

SweepOutcome Sweep::outcome(size_t index, const SweepSums& sums) const {
  const Step& step = steps_[index];
  if (const auto& rounding = step.rounding)
    return {
        round_weight(rounding->name, rounding->weight, rounding->plan, rounding->gram, sums.inputs, options_.effort),
        {}};
  return {std::nullopt, shifts(step, sums)};
}

std::vector<double> Sweep::shifts(const Step& step, const SweepSums& sums) {
  constexpr double kLeastSlope = 1.0 / 8;  // of the steepest one, for the mean after the function to say anything
  const bool keeps_deviation = step.summed.keeps_deviation;
  const size_t channels = step.in_float.size();
  std::vector<double> shifts(keeps_deviation ? 2 * channels : channels, 0.0);
  if (keeps_deviation) std::fill_n(shifts.begin() + static_cast<std::ptrdiff_t>(channels), channels, 1.0);
  if (sums.outputs.elements == 0) return shifts;
  const auto means_of = [&](const ChannelSums& of) {
    TERSOR_CHECK(of.sums.size() == step.summed.per_channel() * channels);
    const double elements = static_cast<double>(of.elements) / static_cast<double>(channels);
    std::vector<ChannelMoments> moments;
    for (size_t c = 0; c < channels; ++c)
      moments.push_back({of.sums.sum(c).value() / elements,
                         step.summed.per_channel() == 2 ? of.sums.sum(channels + c).value() / elements : 0});
    return moments;
  };
  const std::vector<ChannelMoments> quantized = means_of(sums.outputs);
  const std::vector<ChannelMoments> in_float = sums.in_float.elements > 0 ? means_of(sums.in_float) : step.in_float;
  if (keeps_deviation) {
    const std::vector<ChannelMap> maps = keeping_maps(in_float, quantized);
    for (size_t c = 0; c < channels; ++c) shifts[c] = maps[c].shift, shifts[channels + c] = maps[c].gain;
    return shifts;
  }
  for (size_t c = 0; c < channels; ++c) {
    // A shift moves the mean after a function by the function's mean slope; a clamp's is the part that lies inside.
    const double slope = step.summed.has_function() ? quantized[c].square : 1;
    const Curve* curve = step.summed.curve.get();
    const double steepest = curve != nullptr ? curve->steepest * std::fabs(curve->factors[c]) : 1;
    if (slope > 0 && slope >= kLeastSlope * steepest) shifts[c] = (in_float[c].mean - quantized[c].mean) / slope;
  }
  return shifts;
}

void Sweep::take(size_t index, const SweepOutcome& outcome) {
  shifts_ = outcome.shifts;
  if (!outcome.weight) return;
  const Rounding& rounding = *steps_[index].rounding;
  Graph& graph = model_.graph;
  const Tensor& before = *graph.initializer(rounding.codes);
  const KernelPlan& kernel = rounding.plan;
  if (kernel.has_levels()) {
    quant::BlockParams params = *kernel.blocks;
    params.scale = outcome.weight->scales;
    const std::vector<int8_t> levels = quant::levels_of(in_rows(kernel.op, outcome.weight->codes), params);
    graph.set_initializer(rounding.codes, Tensor::of<int8_t>(before.shape(), in_weight_order(kernel.op, levels)));
    return;
  }
  graph.set_initializer(rounding.codes, stored_codes(outcome.weight->codes, before.dtype(), before.shape()));
  // Those of a shared weight stay, and each of its kernels may have its own.
  if (rounding.is_shared()) return;
  const Shape scales = graph.initializer(rounding.scale)->shape();
  const bool is_turned = kernel.blocks && !kernel.op.is_conv && kernel.op.output_axis != 0;
  graph.set_initializer(
      rounding.scale,
      Tensor::of<float>(scales, is_turned ? by_block_first<float>(outcome.weight->scales, kernel.blocks->blocks())
                                          : outcome.weight->scales));
}

int64_t Sweep::state_bytes() const {
  const auto bytes_of = [&](ValueId value) {
    const auto found = bytes_.find(value);
    return found == bytes_.end() ? int64_t{0} : found->second;
  };
  std::set<ValueId> live;
  int64_t most = 0, live_bytes = 0;
  const auto keep = [&](ValueId value) {
    if (live.insert(value).second) live_bytes += bytes_of(value);
  };
  for (const ValueId value : kept_inputs_) keep(value);
  for (const Step& step : steps_) {
    int64_t passing = 0;
    for (const ValueId value : step.results)
      if (step.rounding && step.rounding->is_shared())
        passing += bytes_of(value);
      else
        keep(value);
    most = std::max(most, live_bytes + passing);
    for (const ValueId value : step.dropped)
      if (live.erase(value) != 0) live_bytes -= bytes_of(value);
  }
  return most;
}

void correct_biases(const Graph& graph, const calibrate::MeasuredShifts& measured, QuantizationPlan& plan) {
  for (KernelPlan& kernel : plan.kernels) {
    const std::string& name = graph.name_of(graph.find(kernel.node)->outputs[0]);
    const auto found = std::find_if(measured.outputs.begin(), measured.outputs.end(),
                                    [&](const calibrate::MeasuredShift& one) { return one.name == name; });
    if (found == measured.outputs.end()) continue;
    if (kernel.keeps_deviation) {
      map_outputs(maps_of(found->shifts), kernel);
      continue;
    }
    TERSOR_CHECK(static_cast<int64_t>(found->shifts.size()) == kernel.op.outputs);
    if (kernel.bias.empty()) kernel.bias.assign(found->shifts.size(), 0.0);
    for (size_t o = 0; o < kernel.bias.size(); ++o) {
      const double bias = kernel.bias[o] + found->shifts[o];
      const float scale = kernel.weight.scale[kernel.scale_index(o)];
      if (!std::isfinite(bias) || !kernel.bias_fits(bias, scale)) continue;
      kernel.bias[o] = bias;
      kernel.largest_correction = std::max(kernel.largest_correction, std::fabs(found->shifts[o]));
    }
  }
}

}  // namespace tersor::ptq
