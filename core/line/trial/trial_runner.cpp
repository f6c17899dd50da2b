// SPDX-License-Identifier: Apache-2.0
#include "core/trial/trial_runner.h"

#include <algorithm>
#include <utility>

#include "core/trial/padding_mask.h"

namespace tersor {

TrialRunner::TrialRunner(const Trial& trial) : trial_(trial) {
  using Round = Trial::Round;
  switch (trial.round_) {
    case Round::kSearch:
      search_.emplace(trial.bits_->runner());
      break;
    case Round::kCalibrate:
      calibrator_.emplace(calibrator_of(*trial.job_, trial.records_.size()));
      break;
    case Round::kInFloat:
    case Round::kJudge:
      runner_.emplace(trial.program_);
      break;
    case Round::kStart:
      start_.emplace(*trial.sweep_, trial.program_);
      break;
    case Round::kStep:
      step_.emplace(*trial.sweep_, trial.step_, trial.step_program_);
      break;
    case Round::kDone:
      break;
  }
}

void TrialRunner::advance(size_t sample, TrialState& state) {
  if (search_) {
    auto& values = state.search.values;
    const auto& names = trial_.job_->model.graph.inputs;
    if (trial_.bits_->is_first())
      for (size_t k = 0; k < names.size(); ++k) values[names[k]] = state.inputs[k];
    distances_.push_back({sample, search_->advance(state.search)});
  } else if (calibrator_) {
    const calibrate::SampleRecord& record = trial_.records_[sample];
    calibrator_->add(record, "samples[" + std::to_string(record.index) + "]", state.inputs);
  } else if (start_) {
    state.sweep = (*start_)(state.inputs);
  } else if (step_) {
    const auto& active = trial_.active_;
    const auto place = std::lower_bound(active.begin(), active.end(), sample) - active.begin();
    step_->advance(static_cast<size_t>(place), state.sweep);
  } else if (trial_.round_ == Trial::Round::kInFloat) {
    state.in_float = outputs_of(state.inputs);
  } else {
    std::vector<Tensor> outputs = outputs_of(state.inputs);
    errors_.push_back(error_of(sample, state.in_float, outputs));
    if (!trial_.job_->settings.metric) return;
    outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(outputs.size() / 2), outputs.end());
    state.outputs = std::move(outputs);
  }
}

std::vector<Tensor> TrialRunner::outputs_of(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs = runner_->run(inputs);
  if (const auto mask = mask_input(trial_.job_->model.graph)) clear_padding(inputs[*mask], outputs);
  return outputs;
}

TrialSums TrialRunner::sums() {
  TrialSums sums;
  if (calibrator_) sums.statistics = std::move(*calibrator_).finish();
  if (step_) sums.sweep = step_->sums();
  sums.errors = std::move(errors_);
  sums.distances = std::move(distances_);
  return sums;
}

}  // namespace tersor
