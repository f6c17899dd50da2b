// SPDX-License-Identifier: Apache-2.0
#include "core/cli/measure.h"

#include <algorithm>

#include "core/cli/progress_line.h"
#include "core/cli/workers.h"
#include "core/samples/sample_digest.h"

namespace tersor::cli {

namespace {

std::vector<Tensor> load_recorded(samples::SampleReader& reader, const samples::DataSet& data,
                                  const calibrate::SampleRecord& record, StatisticsOrigin origin) {
  const auto index = static_cast<int64_t>(record.index);
  if (index < data.size()) {
    std::vector<Tensor> inputs = reader.load(index);
    if (origin == StatisticsOrigin::kFresh || samples::sample_digest(inputs) == record.digest) return inputs;
  }
  throw Error(ErrorCode::kMismatch,
              "Sample " + std::to_string(record.index) + " of the data set is not the one the statistics were made of.",
              "--data", "Give the samples that were calibrated on, or calibrate again.");
}

/// The sweep of bias_sweep(), where it is asked for.
void measure_shifts(const Job& job, const Draft& decided, const samples::DataSet& data, StatisticsOrigin origin,
                    int threads, calibrate::Statistics& statistics) {
  const auto sweep = bias_sweep(job, decided);
  if (!sweep) return;
  const std::vector<size_t> chosen = sweep_samples(*sweep, statistics);
  const auto count = static_cast<int64_t>(chosen.size());
  const int used = static_cast<int>(std::min<int64_t>(thread_count(threads), count));
  const auto workers = static_cast<size_t>(used);
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  std::vector<ptq::SweepState> states(chosen.size());
  {
    std::vector<samples::SampleReader> readers;
    for (size_t k = 0; k < workers; ++k) readers.emplace_back(shared);
    fan_out(used, count, [&](int worker, int64_t item) {
      const calibrate::SampleRecord& record = statistics.samples[chosen[static_cast<size_t>(item)]];
      states[static_cast<size_t>(item)] =
          sweep->start(load_recorded(readers[static_cast<size_t>(worker)], data, record, origin));
    });
  }
  calibrate::MeasuredShifts measured{decided.digest, {}};
  std::vector<double> shifts;
  ProgressLine progress("correct", static_cast<int64_t>(sweep->steps()));
  for (size_t step = 0; step < sweep->steps(); ++step) {
    const auto program = sweep->program(step);
    std::vector<run::Runner> runners;
    for (size_t k = 0; k < workers; ++k) runners.emplace_back(program);
    std::vector<ptq::ChannelSums> sums(workers);
    fan_out(used, count, [&](int worker, int64_t item) {
      const auto w = static_cast<size_t>(worker);
      sweep->advance(step, runners[w], states[static_cast<size_t>(item)], shifts, sums[w]);
    });
    for (size_t k = 1; k < workers; ++k) sums[0].add(sums[k]);
    shifts = sweep->shifts(step, sums[0]);
    measured.outputs.push_back({sweep->output(step), shifts});
    progress.step();
  }
  statistics.measured = std::move(measured);
}

/// The pass of gram_pass(), where it is asked for. False: it is not.
bool round_weights(const Job& job, const Draft& decided, const samples::DataSet& data, StatisticsOrigin origin,
                   int threads, calibrate::Statistics& statistics) {
  const auto pass = gram_pass(job, decided);
  if (!pass) return false;
  const auto count = static_cast<int64_t>(statistics.samples.size());
  const int used = static_cast<int>(std::min<int64_t>(thread_count(threads), count));
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  std::vector<samples::SampleReader> readers;
  std::vector<ptq::GramCounter> counters;
  for (int k = 0; k < used; ++k) {
    readers.emplace_back(shared);
    counters.emplace_back(*pass);
  }
  ptq::GramSums sums = pass->empty();
  {
    ProgressLine progress("compare inputs", count);
    fan_out(used, count, [&](int worker, int64_t item) {
      const auto w = static_cast<size_t>(worker);
      const auto place = static_cast<size_t>(item);
      counters[w].add(place, load_recorded(readers[w], data, statistics.samples[place], origin));
      progress.step();
    });
  }
  for (const ptq::GramCounter& counter : counters) sums.add(counter.sums());
  ProgressLine progress("round weights", static_cast<int64_t>(pass->kernels().size()));
  statistics.rounded = tersor::round_weights(job, decided, *pass, sums, [&] { progress.step(); });
  return true;
}

}  // namespace

void measure(const Job& job, Draft& decided, const samples::DataSet& data, StatisticsOrigin origin, int threads,
             calibrate::Statistics& statistics) {
  measure_shifts(job, decided, data, origin, threads, statistics);
  if (!decided.lacks_rounding) return;
  decided.statistics.measured = statistics.measured;
  if (!round_weights(job, decided, data, origin, threads, statistics)) return;
  decided = draft(job, statistics);
  measure_shifts(job, decided, data, origin, threads, statistics);
}

}  // namespace tersor::cli
