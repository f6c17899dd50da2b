// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "core/trial/trial_runner.h"

namespace tersor::test {

/// Puts what trying on samples held aside comes to into the statistics of the samples sample(0), sample(1) ...: the
/// trial as the program runs it, with `parts` runners taking turns. The job with what was chosen.
template <class Sample>
std::shared_ptr<const Job> run_trial(const std::shared_ptr<const Job>& job, calibrate::Statistics& statistics,
                                     Sample sample, size_t parts = 1) {
  if (!Trial::is_wanted(*job, statistics)) return with_choices(job, statistics.choices);
  Trial trial(job, statistics);
  std::vector<TrialState> states(trial.places().size());
  for (size_t k = 0; k < states.size(); ++k) states[k].inputs = sample(trial.places()[k]);
  while (!trial.done()) {
    std::vector<TrialRunner> runners;
    for (size_t k = 0; k < parts; ++k) runners.emplace_back(trial);
    const std::vector<size_t>& active = trial.active();
    for (size_t k = active.size(); k-- > 0;) runners[k * 7 % parts].advance(active[k], states[active[k]]);
    TrialSums sums;
    for (TrialRunner& runner : runners) sums.add(runner.sums());
    trial.take(trial.outcome(std::move(sums)));
  }
  statistics.choices = trial.choices();
  return with_choices(job, statistics.choices);
}

}  // namespace tersor::test
