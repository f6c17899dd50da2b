// SPDX-License-Identifier: Apache-2.0
#include "core/native/train.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "core/native/measure.h"
#include "core/native/size_text.h"

namespace tersor {

namespace {

using Clock = std::chrono::steady_clock;

/// The samples in memory, as far as they fit into a bound; else read anew each time.
class Samples {
 public:
  Samples(const samples::DataSet& data, const KeptSamples* kept, const calibrate::Statistics& statistics, int threads)
      : data_(data), kept_(kept), statistics_(statistics), inputs_(statistics.samples.size()) {
    const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
    for (int k = 0; k < threads; ++k) readers_.emplace_back(shared);
    std::atomic<int64_t> room{kMostBytes};
    fan_out(threads, static_cast<int64_t>(inputs_.size()), [&](int worker, int64_t item) {
      std::vector<Tensor> inputs = load(worker, static_cast<size_t>(item));
      int64_t bytes = 0;
      for (const Tensor& input : inputs) bytes += static_cast<int64_t>(input.byte_count());
      if (room.fetch_sub(bytes) >= bytes) inputs_[static_cast<size_t>(item)] = std::move(inputs);
    });
  }
  std::vector<Tensor> at(int worker, size_t place) {
    return inputs_[place].empty() ? load(worker, place) : inputs_[place];
  }

 private:
  static constexpr int64_t kMostBytes = int64_t{1} << 30;

  std::vector<Tensor> load(int worker, size_t place) {
    const calibrate::SampleRecord& record = statistics_.samples[place];
    std::vector<Tensor> at_hand;
    if (kept_ != nullptr) at_hand = kept_->look_at(static_cast<int64_t>(record.index));
    return load_recorded(readers_[static_cast<size_t>(worker)], data_, record, kept_ != nullptr, std::move(at_hand));
  }

  const samples::DataSet& data_;
  const KeptSamples* kept_;
  const calibrate::Statistics& statistics_;
  std::vector<samples::SampleReader> readers_;
  std::vector<std::vector<Tensor>> inputs_;
};

void run_round(tune::Tuner& tuner, std::vector<tune::TuneRunner>& runners, Samples& samples) {
  const std::vector<tune::Lane>& lanes = tuner.lanes();
  const int used = static_cast<int>(std::min(runners.size(), lanes.size()));
  fan_out(used, static_cast<int64_t>(lanes.size()), [&](int worker, int64_t item) {
    runners[static_cast<size_t>(worker)].run(lanes[static_cast<size_t>(item)],
                                             [&](size_t place) { return samples.at(worker, place); });
  });
  tune::TuneSums sums;
  for (tune::TuneRunner& runner : runners) sums.add(runner.sums());
  tuner.take(std::move(sums));
}

std::vector<tune::TuneRunner> runners_of(const tune::Tuner& tuner, int threads) {
  std::vector<tune::TuneRunner> runners;
  for (int k = 0; k < threads; ++k) runners.emplace_back(tuner);
  return runners;
}

std::shared_ptr<const Job> with_config(const Job& job, const config::GradientPTQConfig& config) {
  auto other = std::make_shared<Job>(job);
  other->settings.config.gradient_ptq_config = config;
  return other;
}

/// Of the samples that the statistics are of.
std::vector<int64_t> labels_of(const calibrate::Statistics& statistics, const std::vector<int64_t>& of_all) {
  std::vector<int64_t> labels;
  for (const calibrate::SampleRecord& sample : statistics.samples)
    if (sample.index < of_all.size()) labels.push_back(of_all[static_cast<size_t>(sample.index)]);
  return labels;
}

int fitting_threads(const tune::Tuner& tuner, int wanted) {
  const int64_t bytes = tuner.bytes_per_runner(), memory = physical_memory();
  if (bytes > memory && memory > 0)
    throw Error(ErrorCode::kOutOfMemory,
                "Training takes " + size_text(bytes) + " of memory and this machine has " + size_text(memory) + ".",
                "config.gradient_ptq_config", "Use a machine with more memory, or a model with smaller inputs.");
  return threads_that_fit(wanted, bytes, memory);
}

/// The epochs that fit into the time, by that of the first steps of a tuner, which is of no use afterwards.
int epochs_in(double minutes, tune::Tuner& tuner, Samples& samples, int threads) {
  constexpr int64_t kTimedSteps = 3;
  auto runners = runners_of(tuner, threads);
  const auto run_to = [&](int64_t step) {
    while (tuner.progress().step < step && !tuner.done()) run_round(tuner, runners, samples);
    return Clock::now();
  };
  const auto begin = Clock::now(), first = run_to(1), last = run_to(1 + kTimedSteps);
  const double setup = std::chrono::duration<double>(first - begin).count(),
               step = std::chrono::duration<double>(last - first).count() / kTimedSteps;
  const double steps = (minutes * 60 - 2 * setup) / std::max(step * 1.1 * tuner.work_of_mean_step(), 1e-6);
  return static_cast<int>(std::clamp(std::floor(steps / static_cast<double>(tuner.steps_per_epoch())), 1.0, 1e5));
}

}  // namespace

std::shared_ptr<const Job> train(std::shared_ptr<const Job> job, Draft& decided, const samples::DataSet& data,
                                 const KeptSamples* kept, const TrainingRun& run, const Workforce& workforce,
                                 calibrate::Statistics& statistics) {
  const std::vector<int64_t> labels = labels_of(statistics, run.labels);
  auto tuner = tuner_of(*job, decided, statistics, labels);
  if (!tuner) return job;
  const int threads =
      fitting_threads(*tuner, std::min(thread_count(workforce.threads), static_cast<int>(tune::kLanes)));
  Samples samples(data, kept, statistics, threads);
  config::GradientPTQConfig config = *job->settings.config.gradient_ptq_config;
  if (run.minutes) {
    config.n_epochs =
        run.resume.empty() ? epochs_in(*run.minutes, *tuner, samples, threads) : tune::epochs_of_checkpoint(run.resume);
    job = with_config(*job, config);
    tuner = tuner_of(*job, decided, statistics, labels);
  }
  if (!run.resume.empty()) tuner->restore(run.resume);
  if (run.begin) run.begin(*tuner, threads);
  auto runners = runners_of(*tuner, threads);
  auto saved = Clock::now();
  while (!tuner->done()) {
    run_round(*tuner, runners, samples);
    const tune::TuneProgress now = tuner->progress();
    if (run.watch)
      run.watch(now, config.batch_size);
    else
      report_progress(workforce.progress, {"train", now.step, now.steps, {}});
    if (run.stops && run.stops()) tuner->stop();
    if (!run.keep || Clock::now() - saved < std::chrono::seconds(30)) continue;
    run.keep(tuner->checkpoint());
    saved = Clock::now();
  }
  if (run.keep) run.keep(tuner->checkpoint());
  calibrate::TunedModel tuned = tuner->result();
  job = with_training(job, tuned);
  keep_tuned(std::move(tuned), decided, statistics);
  return job;
}

}  // namespace tersor
