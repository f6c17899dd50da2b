// SPDX-License-Identifier: Apache-2.0
#include "core/native/gather.h"

#include <algorithm>
#include <utility>

#include "core/native/size_text.h"
#include "core/report/report_of.h"

namespace tersor {

void check_expected_size(const Job& job) {
  const auto before = static_cast<int64_t>(job.opened->file_bytes);
  if (!refuses_growth(job)) return;
  const int64_t expected = expected_coverage(job, before).estimated_size_bytes;
  if (expected > before + before / 10)
    throw growth_error("The quantized file is expected to have " + size_text(expected) +
                       ", more than the float one's " + size_text(before) + ".");
}

Gathered gather(const std::shared_ptr<const Job>& job, const samples::DataSet& data, const std::vector<int64_t>& chosen,
                const Workforce& workforce, const TrainingRun& training) {
  if (!job->program) return gather(job, empty_statistics(*job), nullptr, workforce, training);
  KeptSamples kept = room_for_samples(*job, data);
  calibrate::Statistics statistics = calibrate_data(*job, data, chosen, {}, workforce, kept);
  Gathering gathering(job, std::move(statistics), {training.labels});
  take_passes(gathering, data, &kept, workforce, training);
  Gathered gathered = gathering.take();
  ++gathered.passes;
  return gathered;
}

calibrate::Statistics calibrate_shard(const std::shared_ptr<const Job>& job, const samples::DataSet& data,
                                      const std::vector<int64_t>& chosen, const Shard& shard,
                                      const Workforce& workforce) {
  if (shard.count == 1) return gather(job, data, chosen, workforce).statistics;
  KeptSamples none(data.size(), 0);
  calibrate::Statistics part = calibrate_data(*job, data, chosen, shard, workforce, none);
  part.all_parts = chosen.size();
  return part;
}

Gathered gather(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics, const samples::DataSet* data,
                const Workforce& workforce, const TrainingRun& training) {
  if (data != nullptr) {
    Gathering gathering(job, std::move(statistics), {training.labels});
    take_passes(gathering, *data, nullptr, workforce, training);
    return gathering.take();
  }
  const auto chosen = with_training(with_choices(job, statistics.choices), statistics.tuned);
  Gathered gathered{chosen, std::move(statistics), {}};
  gathered.draft = draft(*gathered.job, gathered.statistics);
  return gathered;
}

void take_passes(Gathering& gathering, const samples::DataSet& data, const KeptSamples* kept,
                 const Workforce& workforce, const TrainingRun& training,
                 const std::function<SweepPartners(const Gathered&)>& partners) {
  const auto samples = static_cast<int64_t>(gathering.gathered().statistics.samples.size());
  const int threads = static_cast<int>(std::clamp<int64_t>(samples, 1, thread_count(workforce.threads)));
  for (; gathering.pass() != nullptr; gathering.next()) {
    SampleInputs inputs(data, kept, gathering.gathered().statistics, threads);
    Rounds& pass = *gathering.pass();
    if (pass.stage() == kTrain) {
      train(gathering, inputs, training, workforce.progress);
    } else if (partners && pass.stage() == kCorrect) {
      const SweepPartners others = partners(gathering.gathered());
      drive(pass, inputs, workforce.progress, &others);
    } else {
      drive(pass, inputs, workforce.progress);
    }
  }
}

KeptSamples room_for_samples(const Job& job, const samples::DataSet& data) {
  constexpr int64_t kKeptBytes = int64_t{8} << 20;
  return {data.size(), job.settings.config.measures_on_samples() ? kKeptBytes : 0};
}

}  // namespace tersor
