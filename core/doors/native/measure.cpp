// SPDX-License-Identifier: Apache-2.0
#include "core/native/measure.h"

#include <algorithm>

#include "core/native/stage_count.h"
#include "core/samples/sample_digest.h"
#include "core/sweep/sweep_bytes.h"
#include "core/trial/trial_runner.h"

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
    runners.clear();  // they hold the round's program
    trial.take(trial.outcome(std::move(sums)));
  }
  statistics.choices = trial.choices();
  return with_choices(job, statistics.choices);
}

namespace {

/// The places among those of the sweep that this process takes.
std::vector<size_t> own_places(const ptq::Sweep& sweep, const SweepPartners* partners) {
  std::vector<size_t> own;
  const Shard all;
  const Shard& shard = partners != nullptr ? partners->shard : all;
  for (size_t place = 0; place < sweep.places().size(); ++place)
    if (static_cast<int64_t>(place) % shard.count == shard.number - 1) own.push_back(place);
  return own;
}

ptq::SweepOutcome outcome_with(const ptq::Sweep& sweep, size_t step, const ptq::SweepSums& own,
                               const SweepPartners& partners) {
  const auto read = [](std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    return ptq::get_sweep_outcome(reader);
  };
  if (const auto known = partners.known(step); !known.empty()) return read(known);
  const auto parts = partners.exchange(step, ptq::to_bytes(own));
  if (parts.empty()) return read(partners.known(step));
  ptq::SweepSums all;
  for (const std::vector<std::byte>& part : parts) {
    ByteReader reader(part);
    all.add(ptq::get_sweep_sums(reader));
  }
  const ByteBuffer bytes = ptq::to_bytes(sweep.outcome(step, all));
  partners.settle(step, bytes);
  return read(bytes);
}

}  // namespace

bool measure(const Job& job, Draft& decided, const samples::DataSet& data, KeptSamples* kept,
             const Workforce& workforce, calibrate::Statistics& statistics, const SweepPartners* partners) {
  const auto swept = sweep(job, decided);
  if (!swept) return false;
  const std::vector<size_t> own = own_places(*swept, partners);
  const auto count = static_cast<int64_t>(own.size());
  const int used =
      static_cast<int>(std::clamp<int64_t>(thread_count(workforce.threads), 1, std::max<int64_t>(count, 1)));
  const auto workers = static_cast<size_t>(used);
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  std::vector<ptq::SweepState> states(own.size());
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
      const auto at = static_cast<size_t>(worker);
      const size_t place = own[static_cast<size_t>(item)];
      ptq::SweepState& state = states[static_cast<size_t>(item)];
      // Most inputs are needed in the first step alone, which leaves them as integers.
      if (step == 0) {
        const calibrate::SampleRecord& record = statistics.samples[swept->places()[place]];
        std::vector<Tensor> at_hand;
        if (kept != nullptr) at_hand = kept->take(static_cast<int64_t>(record.index));
        state = starts[at](load_recorded(readers[at], data, record, kept != nullptr, std::move(at_hand)));
      }
      runners[at].advance(place, state);
      progress.step();
    });
    if (step == 0) starts.clear(), readers.clear();
    ptq::SweepSums sums;
    for (ptq::SweepRunner& runner : runners) sums.add(runner.sums());
    outcomes.push_back(partners != nullptr ? outcome_with(*swept, step, sums, *partners) : swept->outcome(step, sums));
    swept->take(step, outcomes.back());
  }
  keep_outcomes(job, *swept, std::move(outcomes), decided, statistics);
  return true;
}

}  // namespace tersor
