// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/bias_sweep.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/graph/uses.h"
#include "core/kernels/moments.h"
#include "core/ops/registry.h"
#include "core/ptq/apply_plan.h"

namespace tersor::ptq {

namespace {

/// Calls visit(channel, begin, count) for each run of elements of one channel, in memory order.
template <class Visit>
void for_each_channel_run(const Shape& shape, int axis, Visit visit) {
  const auto channels = static_cast<size_t>(shape[axis]);
  const auto inner = static_cast<size_t>(shape.elements(axis + 1, shape.rank()));
  const auto outer = static_cast<size_t>(shape.elements(0, axis));
  size_t begin = 0;
  for (size_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < channels; ++c, begin += inner) visit(c, begin, inner);
}

/// What BiasSweep::shifts() says of a kernel that keeps its deviation.
std::vector<ChannelMap> maps_of(std::span<const double> shifts) {
  const size_t channels = shifts.size() / 2;
  std::vector<ChannelMap> maps;
  for (size_t c = 0; c < channels; ++c) maps.push_back({shifts[channels + c], shifts[c]});
  return maps;
}

Tensor shifted(const Tensor& tensor, int axis, std::span<const double> shifts, bool keeps_deviation) {
  Tensor result = Tensor::make(DType::kFloat32, tensor.shape());
  const auto from = tensor.data<float>();
  const auto to = result.mutable_data<float>();
  const std::vector<ChannelMap> maps = keeps_deviation ? maps_of(shifts) : std::vector<ChannelMap>{};
  for_each_channel_run(tensor.shape(), axis, [&](size_t c, size_t begin, size_t count) {
    if (keeps_deviation)
      kernels::shift_and_scale(from.data() + begin, count, -maps[c].shift / maps[c].gain, maps[c].gain,
                               to.data() + begin);
    else
      kernels::add_constant(from.data() + begin, count, static_cast<float>(shifts[c]), to.data() + begin);
  });
  return result;
}

void add_channels(const Tensor& tensor, int axis, bool with_squares, ChannelSums& sums) {
  const auto x = tensor.data<float>();
  const auto channels = static_cast<size_t>(tensor.shape()[axis]);
  std::vector<double> own(with_squares ? 2 * channels : channels, 0.0);
  for_each_channel_run(tensor.shape(), axis, [&](size_t c, size_t begin, size_t count) {
    own[c] += kernels::sum_shifted(x.data() + begin, count, 0);
    if (with_squares) own[channels + c] += kernels::sum_squares_shifted(x.data() + begin, count, 0);
  });
  if (sums.sums.empty()) sums.sums.resize(own.size());
  if (sums.sums.size() != own.size())
    throw Error(ErrorCode::kInvalidSamples, "The number of channels differs between samples.");
  for (size_t c = 0; c < own.size(); ++c) {
    if (!std::isfinite(own[c]))
      throw Error(ErrorCode::kInvalidSamples, "The quantized model gives a number that is not finite.");
    sums.sums[c].add(own[c]);
  }
  sums.elements += x.size();
}

}  // namespace

void ChannelSums::add(const ChannelSums& more) {
  if (sums.empty()) sums.resize(more.sums.size());
  TERSOR_CHECK(more.sums.empty() || sums.size() == more.sums.size());
  for (size_t c = 0; c < more.sums.size(); ++c) sums[c].add(more.sums[c]);
  elements += more.elements;
}

BiasSweep::BiasSweep(const Model& float_model, const QuantizationPlan& plan, const calibrate::Statistics& statistics,
                     Scope scope)
    : model_(apply_plan(float_model, plan)) {
  find_steps(plan, float_model.graph, statistics, scope);
  divide();
  const Graph& graph = model_.graph;
  for (const Step& step : steps_)
    for (const auto* list : {&step.inputs, &step.results})
      for (const ValueId value : *list) {
        const Node* maker = nullptr;
        for (const Node& node : graph.nodes())
          if (std::count(node.outputs.begin(), node.outputs.end(), value) != 0) maker = &node;
        const bool stored_small = maker != nullptr && maker->is("QuantizeLinear");
        const calibrate::TensorStatistics* seen =
            statistics.find(graph.name_of(stored_small ? maker->inputs[0] : value));
        if (seen == nullptr || statistics.samples.empty()) continue;
        const auto elements = static_cast<int64_t>(seen->elements / statistics.samples.size());
        bytes_[value] = elements * (stored_small ? 1 : 4);
      }
}

void BiasSweep::find_steps(const QuantizationPlan& plan, const Graph& float_graph,
                           const calibrate::Statistics& statistics, Scope scope) {
  const auto& nodes = model_.graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const KernelPlan* kernel = plan.find(nodes[i].id);
    if (kernel == nullptr || !kernel->op.can_have_bias) continue;
    if (scope == Scope::kDeviations && !kernel->keeps_deviation) continue;
    // By its name in the float graph: a clamp that folds away, or a quantizer, may have taken over the kernel's output.
    Step step;
    step.node = i;
    step.name = float_graph.name_of(float_graph.find(nodes[i].id)->outputs[0]);
    step.output = nodes[i].outputs[0];
    step.keeps_deviation = kernel->keeps_deviation;
    const calibrate::TensorStatistics* seen = statistics.find(step.name);
    if (seen == nullptr || static_cast<int64_t>(seen->channels.size()) != kernel->op.outputs) continue;
    steps_.push_back(step);
    steps_.back().channel_axis = seen->channel_axis;
    for (size_t c = 0; c < seen->channels.size(); ++c)
      steps_.back().in_float.push_back({seen->channel_mean(c), seen->channel_mean_square(c)});
  }
}

bool BiasSweep::is_remade(const Node& node) const {
  return node.is("DequantizeLinear");
}

/// Gives every node to the first step that needs it, and to each step the values that it takes from earlier ones.
void BiasSweep::divide() {
  const Graph& graph = model_.graph;
  const Uses uses(graph);
  const auto& nodes = graph.nodes();
  std::vector<bool> made(nodes.size(), false);
  std::map<ValueId, size_t> last_need;
  for (size_t k = 0; k < steps_.size(); ++k) {
    Step& step = steps_[k];
    std::set<size_t> part;
    std::set<ValueId> taken;
    std::vector<size_t> open = {step.node};
    while (!open.empty()) {
      const size_t index = open.back();
      open.pop_back();
      if (!part.insert(index).second) continue;
      for (const ValueId value : uses.reads(index)) {
        if (!value.valid() || graph.initializer(value) != nullptr) continue;
        const auto maker = uses.producer_index(value);
        if (maker && (!made[*maker] || is_remade(nodes[*maker])))
          open.push_back(*maker);
        else
          taken.insert(value);
      }
    }
    step.nodes.assign(part.begin(), part.end());
    step.inputs.assign(taken.begin(), taken.end());
    for (const ValueId value : taken) last_need[value] = k;
    for (const size_t index : part) made[index] = true;
  }
  std::map<ValueId, size_t> maker_step;
  for (size_t k = steps_.size(); k-- > 0;)
    for (const size_t index : steps_[k].nodes)
      for (const ValueId value : nodes[index].outputs)
        if (value.valid()) maker_step[value] = k;
  for (size_t k = 0; k < steps_.size(); ++k) steps_[k].results.push_back(steps_[k].output);
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

std::shared_ptr<const run::Program> BiasSweep::program(size_t step_index) const {
  const Step& step = steps_[step_index];
  Model part = model_;
  const std::set<size_t> wanted(step.nodes.begin(), step.nodes.end());
  std::vector<Node> nodes;
  for (const size_t index : step.nodes) nodes.push_back(part.graph.nodes()[index]);
  part.graph.nodes() = std::move(nodes);
  part.graph.inputs = step.inputs;
  part.graph.outputs = step.results;
  for (const ValueId value : step.inputs) part.graph.value(value).shape.reset();
  part.graph.erase_unused_initializers();
  return run::Program::compile(part, ops::standard());
}

SweepState BiasSweep::start(std::span<const Tensor> inputs) const {
  SweepState state;
  const auto& all = model_.graph.inputs;
  for (size_t k = 0; k < all.size(); ++k)
    if (std::find(kept_inputs_.begin(), kept_inputs_.end(), all[k]) != kept_inputs_.end()) state[all[k]] = inputs[k];
  return state;
}

void BiasSweep::advance(size_t index, run::Runner& runner, SweepState& state, std::span<const double> shifts,
                        ChannelSums& sums) const {
  const Step& step = steps_[index];
  if (index > 0) {
    const Step& before = steps_[index - 1];
    const auto corrected = state.find(before.output);
    if (corrected != state.end())
      corrected->second = shifted(corrected->second, before.channel_axis, shifts, before.keeps_deviation);
  }
  std::vector<Tensor> inputs;
  for (const ValueId value : step.inputs) inputs.push_back(state.at(value));
  std::vector<Tensor> results = runner.run(inputs);
  add_channels(results[0], step.channel_axis, step.keeps_deviation, sums);
  for (const ValueId value : step.dropped) state.erase(value);
  for (size_t k = 0; k < step.results.size(); ++k) state[step.results[k]] = std::move(results[k]);
  const auto needed = [&](ValueId value) {
    for (size_t later = index + 1; later < steps_.size(); ++later)
      if (const auto& taken = steps_[later].inputs; std::find(taken.begin(), taken.end(), value) != taken.end())
        return true;
    return false;
  };
  if (!needed(step.output)) state.erase(step.output);
}

std::vector<double> BiasSweep::shifts(size_t index, const ChannelSums& quantized) const {
  const Step& step = steps_[index];
  const size_t channels = step.in_float.size(), sums = step.keeps_deviation ? 2 * channels : channels;
  std::vector<double> shifts(sums, 0.0);
  if (step.keeps_deviation) std::fill_n(shifts.begin() + static_cast<std::ptrdiff_t>(channels), channels, 1.0);
  if (quantized.elements == 0) return shifts;
  TERSOR_CHECK(quantized.sums.size() == sums);
  const double count = static_cast<double>(quantized.elements) / static_cast<double>(channels);
  const auto mean = [&](size_t k) { return quantized.sums[k].value() / count; };
  if (!step.keeps_deviation) {
    for (size_t c = 0; c < channels; ++c) shifts[c] = step.in_float[c].mean - mean(c);
    return shifts;
  }
  std::vector<ChannelMoments> moments;
  for (size_t c = 0; c < channels; ++c) moments.push_back({mean(c), mean(channels + c)});
  const std::vector<ChannelMap> maps = keeping_maps(step.in_float, moments);
  for (size_t c = 0; c < channels; ++c) shifts[c] = maps[c].shift, shifts[channels + c] = maps[c].gain;
  return shifts;
}

int64_t BiasSweep::state_bytes() const {
  const auto bytes_of = [&](ValueId value) {
    const auto found = bytes_.find(value);
    return found == bytes_.end() ? int64_t{0} : found->second;
  };
  std::set<ValueId> live(kept_inputs_.begin(), kept_inputs_.end());
  int64_t most = 0;
  for (const Step& step : steps_) {
    live.insert(step.results.begin(), step.results.end());
    int64_t bytes = 0;
    for (const ValueId value : live) bytes += bytes_of(value);
    most = std::max(most, bytes);
    for (const ValueId value : step.dropped) live.erase(value);
  }
  return most;
}

void correct_biases(const Graph& graph, const calibrate::MeasuredShifts& measured, QuantizationPlan& plan) {
  constexpr double kLargestBias = 2147480000.0;
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
      const float scale = kernel.weight.scale[kernel.weight.per_channel() ? o % kernel.weight.scale.size() : 0];
      if (kernel.integer_bias && std::fabs(bias) > kLargestBias * (kernel.input_scale * scale)) continue;
      kernel.bias[o] = bias;
      kernel.largest_correction = std::max(kernel.largest_correction, std::fabs(found->shifts[o]));
    }
  }
}

}  // namespace tersor::ptq
