// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "core/job/tersor.h"
#include "core/sweep/sweep_runner.h"

namespace tersor::test {

/// Puts what the settings want measured into the statistics of the samples sample(0), sample(1) ...: the sweep as the
/// program runs it, with `parts` runners taking turns. False: there is nothing to measure.
template <class Sample>
bool run_sweep(const Job& job, calibrate::Statistics& statistics, Sample sample, size_t parts = 1) {
  Draft decided = draft(job, statistics);
  const auto swept = sweep(job, decided);
  if (!swept) return false;
  ptq::SweepStart start(*swept, swept->float_program());
  std::vector<ptq::SweepState> states;
  for (const size_t place : swept->places()) states.push_back(start(sample(place)));
  std::vector<ptq::SweepOutcome> outcomes;
  for (size_t step = 0; step < swept->steps(); ++step) {
    const auto program = swept->program(step);
    std::vector<ptq::SweepRunner> runners;
    for (size_t k = 0; k < parts; ++k) runners.emplace_back(*swept, step, program);
    for (size_t k = states.size(); k-- > 0;) runners[k * 7 % parts].advance(k, states[k]);
    ptq::SweepSums sums;
    for (ptq::SweepRunner& runner : runners) sums.add(runner.sums());
    outcomes.push_back(swept->outcome(step, sums));
    swept->take(step, outcomes.back());
  }
  keep_outcomes(job, *swept, std::move(outcomes), decided, statistics);
  return true;
}

}  // namespace tersor::test
