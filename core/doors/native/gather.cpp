// SPDX-License-Identifier: Apache-2.0
#include "core/native/gather.h"

#include <utility>

#include "core/native/measure.h"
#include "core/native/size_text.h"
#include "core/report/report_of.h"

namespace tersor {

namespace {

Gathered tried_and_measured(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics,
                            const samples::DataSet& data, KeptSamples* kept, const Workforce& workforce,
                            const TrainingRun& training) {
  Gathered gathered{nullptr, std::move(statistics), {}};
  gathered.job = choose(job, data, kept, workforce, gathered.statistics);
  gathered.draft = draft(*gathered.job, gathered.statistics);
  gathered.passes = measure(*gathered.job, gathered.draft, data, kept, workforce, gathered.statistics) ? 1 : 0;
  gathered.job = train(gathered.job, gathered.draft, data, kept, training, workforce, gathered.statistics);
  return gathered;
}

}  // namespace

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
  Gathered gathered = tried_and_measured(job, std::move(statistics), data, &kept, workforce, training);
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
  if (data != nullptr) return tried_and_measured(job, std::move(statistics), *data, nullptr, workforce, training);
  const auto chosen = with_training(with_choices(job, statistics.choices), statistics.tuned);
  Gathered gathered{chosen, std::move(statistics), {}};
  gathered.draft = draft(*gathered.job, gathered.statistics);
  return gathered;
}

}  // namespace tersor
