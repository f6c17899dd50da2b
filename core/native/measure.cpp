// SPDX-License-Identifier: Apache-2.0
#include "core/native/measure.h"

#include <algorithm>

#include "core/native/stage_count.h"
#include "core/samples/sample_digest.h"
#include "core/trial.h"

namespace tersor {

namespace {

constexpr int64_t kKeptBytes = int64_t{8} << 20;

}  // namespace

std::vector<Tensor> load_recorded(samples::SampleReader& reader, const samples::DataSet& data,
                                  const calibrate::SampleRecord& record, bool is_own, std::vector<Tensor> at_hand) {
  const auto index = static_cast<int64_t>(record.index);
  if (!at_hand.empty()) return at_hand;
  if (is_own) return reader.load(index);
  if (index < data.size()) {
    std::vector<Tensor> inputs = reader.load(index);
    if (samples::sample_digest(inputs) == record.digest) return inputs;
  }
  throw Error(ErrorCode::kMismatch,
              "Sample " + std::to_string(record.index) + " of the data set is not the one the statistics were made of.",
              index < data.size() ? data.place(index) : "samples",
              "Give the samples that were calibrated on, or calibrate again.");
}

KeptSamples room_for_samples(const Job& job, const samples::DataSet& data) {
  return {data.size(), job.settings.config.measures_on_samples() ? kKeptBytes : 0};
}

std::shared_ptr<const Job> choose(const std::shared_ptr<const Job>& job, const samples::DataSet& data,
                                  const KeptSamples* kept, const Workforce& workforce,
                                  calibrate::Statistics& statistics) {
  if (!Trial::is_wanted(*job, statistics)) return with_choices(job, statistics.choices);
  Trial trial(job, statistics);
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  const auto all = static_cast<int64_t>(trial.places().size());
  const int most = static_cast<int>(std::min<int64_t>(thread_count(workforce.threads), all));
  std::vector<TrialState> states(trial.places().size());
  {
    std::vector<samples::SampleReader> readers;
    for (int k = 0; k < most; ++k) readers.emplace_back(shared);
    fan_out(most, all, [&](int worker, int64_t item) {
      const calibrate::SampleRecord& record = statistics.samples[trial.places()[static_cast<size_t>(item)]];
      std::vector<Tensor> at_hand;
      if (kept != nullptr) at_hand = kept->look_at(static_cast<int64_t>(record.index));
      states[static_cast<size_t>(item)].inputs =
          load_recorded(readers[static_cast<size_t>(worker)], data, record, kept != nullptr, std::move(at_hand));
    });
  }
  while (!trial.done()) {
    const std::vector<size_t>& active = trial.active();
    const int used = static_cast<int>(std::min<size_t>(static_cast<size_t>(most), active.size()));
    std::vector<TrialRunner> runners;
    for (int k = 0; k < used; ++k) runners.emplace_back(trial);
    StageCount progress(workforce.progress, "try", static_cast<int64_t>(active.size()));
    fan_out(used, static_cast<int64_t>(active.size()), [&](int worker, int64_t item) {
      const size_t sample = active[static_cast<size_t>(item)];
      runners[static_cast<size_t>(worker)].advance(sample, states[sample]);
      progress.step();
    });
    TrialSums sums;
    for (TrialRunner& runner : runners) sums.add(runner.sums());
    trial.take(trial.outcome(std::move(sums)));
  }
  statistics.choices = trial.choices();
  return with_choices(job, statistics.choices);
}

bool measure(const Job& job, Draft& decided, const samples::DataSet& data, KeptSamples* kept,
             const Workforce& workforce, calibrate::Statistics& statistics) {
  const auto swept = sweep(job, decided);
  if (!swept) return false;
  const std::vector<size_t>& chosen = swept->places();
  const auto count = static_cast<int64_t>(chosen.size());
  const int used = static_cast<int>(std::min<int64_t>(thread_count(workforce.threads), count));
  const auto workers = static_cast<size_t>(used);
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  std::vector<ptq::SweepState> states(chosen.size());
  std::vector<samples::SampleReader> readers;
  std::vector<ptq::SweepStart> starts;
  const auto in_float = swept->float_program();
  for (size_t k = 0; k < workers; ++k) readers.emplace_back(shared), starts.emplace_back(*swept, in_float);
  std::vector<ptq::SweepOutcome> outcomes;
  StageCount progress(workforce.progress, "correct", static_cast<int64_t>(swept->steps()) * count);
  for (size_t step = 0; step < swept->steps(); ++step) {
    const auto program = swept->program(step);
    std::vector<ptq::SweepRunner> runners;
    for (size_t k = 0; k < workers; ++k) runners.emplace_back(*swept, step, program);
    fan_out(used, count, [&](int worker, int64_t item) {
      const auto place = static_cast<size_t>(item), at = static_cast<size_t>(worker);
      // Most inputs are needed in the first step alone, which leaves them as integers.
      if (step == 0) {
        const calibrate::SampleRecord& record = statistics.samples[chosen[place]];
        std::vector<Tensor> at_hand;
        if (kept != nullptr) at_hand = kept->take(static_cast<int64_t>(record.index));
        states[place] = starts[at](load_recorded(readers[at], data, record, kept != nullptr, std::move(at_hand)));
      }
      runners[at].advance(place, states[place]);
      progress.step();
    });
    if (step == 0) starts.clear(), readers.clear();
    ptq::SweepSums sums;
    for (ptq::SweepRunner& runner : runners) sums.add(runner.sums());
    outcomes.push_back(swept->outcome(step, sums));
    swept->take(step, outcomes.back());
  }
  keep_outcomes(job, *swept, std::move(outcomes), decided, statistics);
  return true;
}

}  // namespace tersor
