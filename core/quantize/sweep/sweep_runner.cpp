// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/sweep_runner.h"

#include <algorithm>
#include <utility>

#include "core/correct/channel_runs.h"
#include "core/kernels/moments.h"
#include "core/kernels/sum_rows.h"
#include "core/ops/layout.h"

namespace tersor::ptq {

namespace {

/// Where a logical axis is in memory.
int axis_of(const run::LaidTensor& tensor, int axis) {
  return ops::physical_axis(axis, tensor.tensor.shape().rank(), tensor.layout);
}

/// In place: no one else holds the values of a sample.
void shift(run::LaidTensor& values, int channel_axis, std::span<const double> shifts, bool keeps_deviation) {
  const int axis = axis_of(values, channel_axis);
  float* const x = values.tensor.mutable_data<float>().data();
  const Shape& shape = values.tensor.shape();
  const std::vector<ChannelMap> maps = keeps_deviation ? maps_of(shifts) : std::vector<ChannelMap>{};
  if (!keeps_deviation && axis == shape.rank() - 1) {
    const std::vector<float> terms(shifts.begin(), shifts.end());
    kernels::add_to_rows(x, static_cast<size_t>(shape.elements(0, axis)), terms.size(), terms.data());
    return;
  }
  for_each_channel_run(shape, axis, [&](size_t c, size_t begin, size_t count) {
    if (keeps_deviation)
      kernels::shift_and_scale(x + begin, count, -maps[c].shift / maps[c].gain, maps[c].gain, x + begin);
    else
      kernels::add_constant(x + begin, count, static_cast<float>(shifts[c]), x + begin);
  });
}

}  // namespace

SweepStart::SweepStart(const Sweep& sweep, std::shared_ptr<const run::Program> program) : sweep_(sweep) {
  if (program) runner_.emplace(std::move(program));
}

SweepState SweepStart::operator()(std::span<const Tensor> inputs) {
  SweepState state;
  const auto& all = sweep_.model_.graph.inputs;
  const auto& kept = sweep_.kept_inputs_;
  for (size_t k = 0; k < all.size(); ++k)
    if (std::find(kept.begin(), kept.end(), all[k]) != kept.end()) state.values[all[k]] = {inputs[k]};
  if (!runner_) return state;
  sums_.assign(sweep_.steps_.size(), {});
  runner_->run(inputs, this);
  state.in_float = std::move(sums_);
  return state;
}

void SweepStart::observe(const run::ObservedTensor& tensor) {
  for (size_t k = 0; k < sums_.size(); ++k) {
    const Sweep::Step& step = sweep_.steps_[k];
    if (step.rounding || step.in_float_value != tensor.value) continue;
    const Shape physical(ops::physical_dims({DType::kFloat32, tensor.shape, tensor.layout}));
    const int axis = ops::physical_axis(step.summed.channel_axis, physical.rank(), tensor.layout);
    step.summed.add(tensor.data, physical, axis, sums_[k]);
  }
}

SweepRunner::SweepRunner(const Sweep& sweep, size_t step, const SweepProgram& program)
    : sweep_(sweep), step_(step), runner_(program.part) {
  if (program.before) before_.emplace(program.before);
  if (const auto& rounding = sweep.steps_[step].rounding) counter_.emplace(rounding->gram);
}

void SweepRunner::advance(size_t place, SweepState& state) {
  const auto& steps = sweep_.steps_;
  const Sweep::Step& step = steps[step_];
  if (before_) {
    const Sweep::Step& before = steps[step_ - 1];
    std::vector<run::LaidTensor> sources;
    for (const ValueId value : before.remade_from) sources.push_back(state.values.at(value));
    state.values[before.output] = std::move(before_->run_laid(sources)[0]);
  }
  if (step_ > 0 && !sweep_.shifts_.empty()) {
    const Sweep::Step& before = steps[step_ - 1];
    const auto corrected = state.values.find(before.output);
    if (corrected != state.values.end())
      shift(corrected->second, before.summed.channel_axis, sweep_.shifts_, before.summed.keeps_deviation);
  }
  std::vector<run::LaidTensor> results;
  if (!step.results.empty()) {
    std::vector<run::LaidTensor> inputs;
    for (const ValueId value : step.inputs) inputs.push_back(state.values.at(value));
    results = runner_.run_laid(inputs);
  }
  const run::LaidTensor& output = results.empty() ? state.values.at(step.output) : results[0];
  if (counter_ && step.rounding->is_shared()) {
    const std::vector<int32_t>& zero_points = step.rounding->zero_points;
    const auto readers = static_cast<int64_t>(zero_points.size());
    const int64_t most = std::max<int64_t>(1, step.rounding->gram.rows_per_sample(sweep_.places().size()) / readers);
    for (size_t k = 0; k < results.size(); ++k) counter_->add(place, results[k], most, zero_points[k]);
  } else if (counter_) {
    counter_->add(place, output, step.rounding->gram.rows_per_sample(sweep_.places().size()));
  } else {
    step.summed.add(output.tensor.data<float>(), output.tensor.shape(), axis_of(output, step.summed.channel_axis),
                    outputs_);
    if (!state.in_float.empty()) in_float_.add(state.in_float[step_]);
  }
  for (const ValueId value : step.dropped) state.values.erase(value);
  if (before_) state.values.erase(steps[step_ - 1].output);
  if (counter_ && step.rounding->is_shared()) return;
  for (size_t k = step.keeps_output ? 0 : 1; k < step.results.size(); ++k)
    state.values[step.results[k]] = std::move(results[k]);
}

SweepSums SweepRunner::sums() {
  return {counter_ ? counter_->take() : GramSums{}, std::move(outputs_), std::move(in_float_)};
}

}  // namespace tersor::ptq
