// SPDX-License-Identifier: Apache-2.0
#include "core/rounds/gathering.h"

#include <utility>

namespace tersor {

Gathering::Gathering(std::shared_ptr<const Job> job, calibrate::Statistics statistics, Options options)
    : gathered_{std::move(job), std::move(statistics), {}}, options_(std::move(options)) {
  begin();
}

/// Begins the first pass that is wanted, from the stage that is next.
void Gathering::begin() {
  if (next_ == Stage::kTrial) {
    next_ = Stage::kSweep;
    if ((pass_ = trial_rounds(gathered_))) return;
  }
  if (next_ == Stage::kSweep) {
    next_ = Stage::kTraining;
    gathered_.job = with_choices(gathered_.job, gathered_.statistics.choices);
    gathered_.draft = draft(*gathered_.job, gathered_.statistics);
    if ((pass_ = sweep_rounds(gathered_))) return;
  }
  if (next_ == Stage::kTraining && options_.trains && gathered_.job->settings.config.gradient_ptq_config)
    pass_ = training();
  next_ = Stage::kOver;
}

std::unique_ptr<Rounds> Gathering::training() const {
  std::vector<int64_t> labels;
  for (const calibrate::SampleRecord& sample : gathered_.statistics.samples)
    if (sample.index < options_.labels.size()) labels.push_back(options_.labels[static_cast<size_t>(sample.index)]);
  return training_rounds(gathered_, labels);
}

void Gathering::next() {
  std::exchange(pass_, nullptr)->keep(gathered_);
  begin();
}

void Gathering::train_for(int n_epochs) {
  pass_ = nullptr;
  auto job = std::make_shared<Job>(*gathered_.job);
  job->settings.config.gradient_ptq_config->n_epochs = n_epochs;
  gathered_.job = std::move(job);
  pass_ = training();
}

}  // namespace tersor
