// SPDX-License-Identifier: Apache-2.0
#include "core/tune/tuner.h"

#include <algorithm>

#include "core/tune/tuner_state.h"

namespace tersor::tune {

namespace {
constexpr size_t kFew = 96, kHelpful = 256;  // samples
}

Tuner::Tuner(const Problem& problem) : state_(std::make_unique<State>(problem)) {}
Tuner::~Tuner() = default;

bool Tuner::done() const {
  return state_->round == State::Round::kDone;
}
const std::vector<Lane>& Tuner::lanes() const {
  return state_->lanes;
}
void Tuner::take(TuneSums sums) {
  state_->take(std::move(sums));
}
void Tuner::stop() {
  state_->is_stopped = true;
}

TuneProgress Tuner::progress() const {
  const State& s = *state_;
  return {s.step,
          s.last_step(),
          s.loss,
          s.tuning.before_db,
          s.best_db,
          s.last.db,
          s.tuning.before_right,
          s.tuning.after_right,
          s.last.right,
          s.before_same,
          s.last.same,
          static_cast<int64_t>(s.held.size())};
}

calibrate::TunedModel Tuner::result() const {
  calibrate::TunedModel result;
  result.tuning = state_->tuning;
  result.tuning.plan = state_->key;
  result.tuning.steps = state_->step;
  // Whoever follows the recipe comes to the same end: these steps are all there are.
  result.tuning.steps_planned = state_->diverged.empty() ? state_->steps : state_->step;
  result.tuning.samples = static_cast<int64_t>(state_->trained_on.size());
  result.tuning.held = static_cast<int64_t>(state_->held.size());
  result.tuning.after_db = state_->best_db;
  result.tuning.frozen = state_->student.frozen;
  if (state_->trained_on.size() < kFew)
    result.tuning.frozen.push_back("Training had " + std::to_string(state_->trained_on.size()) + " samples and held " +
                                   std::to_string(state_->held.size()) +
                                   " aside, which is few: training learns them by "
                                   "heart. Give " +
                                   std::to_string(kHelpful) + " or more.");
  if (!state_->diverged.empty())
    result.tuning.frozen.push_back("The loss " + state_->diverged + " after " + std::to_string(state_->step) +
                                   " steps; what was best before is kept. Try a smaller learning rate.");
  result.tuning.taken = state_->best.has_value();
  if (!state_->best) return result;
  result.weights = state_->best->weights;
  result.biases = state_->best->biases;
  result.tuning.activations = state_->best->activations;
  return result;
}

int64_t Tuner::steps_per_epoch() const {
  return state_->steps_per_epoch;
}

int64_t Tuner::rounds() const {
  const int64_t steps = state_->last_step(), every = judged_every(state_->steps);
  return 2 + steps + (steps + every - 1) / every;
}

std::vector<Shape> Tuner::State::shapes_for(const run::Program& program) const {
  std::vector<Shape> shapes = input_shapes;
  for (size_t k = shapes.size(); k < program.inputs().size(); ++k) {
    std::vector<int64_t> dims;
    for (const Dim& dim : *program.inputs()[k].shape) dims.push_back(dim.value);
    shapes.emplace_back(std::move(dims));
  }
  return shapes;
}

int64_t Tuner::bytes_per_runner() const {
  const State& s = *state_;
  const auto bytes = [&](const run::Program& program) { return program.peak_bytes(s.shapes_for(program)); };
  // Whichever of its steps takes the most.
  const bool learns = s.learns_rounding(s.steps);
  const int64_t training = bytes(*s.sized_step(learns)), judging = bytes(*s.judging);
  if (training == 0) return 0;
  // What weighs the points is given, beside the inputs, one tensor for each output.
  std::vector<Shape> weighed = s.input_shapes;
  const auto types = s.teaching->value_types(s.input_shapes);
  for (const ValueId output : s.teacher.outputs) {
    const auto& type = types[static_cast<size_t>(output.index)];
    if (!type) return 0;
    weighed.push_back(type->shape);
  }
  const int64_t weighing = s.weighing->peak_bytes(weighed) + s.teaching->peak_bytes(s.input_shapes);
  // That is gone before the first step. The gradients of a sample leave the run as tensors of their own, and each lane
  // has a sum of them.
  int64_t gradients = 0;
  for (const TrainedInput& one : s.student.trained)
    if (one.gradient.valid()) gradients += one.start.elements() * static_cast<int64_t>(sizeof(float));
  return std::max(weighing + judging, training + judging + (1 + static_cast<int64_t>(kLanes)) * gradients);
}

double Tuner::work_of_mean_step() const {
  const State& s = *state_;
  const auto macs = [&](bool learns) {
    const auto program = s.sized_step(learns);
    return static_cast<double>(program->macs(s.shapes_for(*program)));
  };
  const bool begins = s.learns_rounding(0), ends = s.learns_rounding(s.steps);
  if (begins == ends) return 1;
  const double later = macs(true) / std::max(macs(false), 1.0);
  const double part = static_cast<double>(s.rounding_begin()) / static_cast<double>(std::max<int64_t>(s.steps, 1));
  return part + (1 - part) * std::max(later, 1.0);
}

}  // namespace tersor::tune
