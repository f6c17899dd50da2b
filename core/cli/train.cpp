// SPDX-License-Identifier: Apache-2.0
#include "core/cli/train.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>

#include <unistd.h>

#include "core/cli/files.h"
#include "core/cli/measure.h"
#include "core/cli/workers.h"

namespace tersor::cli {

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

/// While it lives, the first Ctrl+C asks training to end, and a second one ends the program.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = 0;
    former_ = std::signal(SIGINT, [](int) {
      interrupted = 1;
      std::signal(SIGINT, SIG_DFL);
    });
  }
  ~InterruptGuard() { std::signal(SIGINT, former_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*former_)(int);
};

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

/// A line on a terminal: step, loss, speed, time left.
class TrainingLine {
 public:
  explicit TrainingLine(bool quiet) : shown_(!quiet && isatty(2) != 0), start_(Clock::now()) {}
  ~TrainingLine() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  TrainingLine(const TrainingLine&) = delete;
  TrainingLine& operator=(const TrainingLine&) = delete;

  void show(const tune::TuneProgress& now, int64_t batch) {
    if (!shown_ || now.step == 0) return;
    const auto at = Clock::now();
    if (at - printed_ < std::chrono::milliseconds(200)) return;
    printed_ = at;
    const double seconds = std::chrono::duration<double>(at - start_).count();
    const double each = seconds / static_cast<double>(now.step);
    std::fprintf(stderr, "\r\033[Ktrain %lld/%lld, loss %.3g, SQNR %.1f -> %.1f dB, %.0f samples/s, %.0f s left",
                 static_cast<long long>(now.step), static_cast<long long>(now.steps), now.loss, now.before_db,
                 now.best_db, static_cast<double>(batch) / each, each * static_cast<double>(now.steps - now.step));
  }

 private:
  bool shown_;
  Clock::time_point start_, printed_{};
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

void write_checkpoint(const tune::Tuner& tuner, const std::string& path) {
  const ByteBuffer state = tuner.checkpoint();
  write_file(path, std::span(state.data(), state.size()));
}

std::shared_ptr<const Job> with_config(const Job& job, const config::GradientPTQConfig& config) {
  auto other = std::make_shared<Job>(job);
  other->settings.config.gradient_ptq_config = config;
  return other;
}

/// The epochs that fit into the time, by that of some steps.
int epochs_in(double minutes, const Job& job, const Draft& decided, const calibrate::Statistics& statistics,
              Samples& samples, int threads) {
  constexpr int64_t kTimedSteps = 3;
  config::GradientPTQConfig config = *job.settings.config.gradient_ptq_config;
  config.most_steps = kTimedSteps + 1;
  const auto timed = with_config(job, config);
  const auto tuner = tuner_of(*timed, decided, statistics);
  if (!tuner) return config.n_epochs;
  auto runners = runners_of(*tuner, threads);
  const auto begin = Clock::now();
  while (tuner->progress().step < 1 && !tuner->done()) run_round(*tuner, runners, samples);
  const auto first = Clock::now();
  while (tuner->progress().step < 1 + kTimedSteps && !tuner->done()) run_round(*tuner, runners, samples);
  const double setup = std::chrono::duration<double>(first - begin).count(),
               step = std::chrono::duration<double>(Clock::now() - first).count() / kTimedSteps;
  const double steps = (minutes * 60 - 2 * setup) / std::max(step * 1.1, 1e-6);
  const auto per_epoch = static_cast<double>(tuner->steps_per_epoch());
  return static_cast<int>(std::clamp(std::floor(steps / per_epoch), 1.0, 1e5));
}

}  // namespace

std::shared_ptr<const Job> train(std::shared_ptr<const Job> job, Draft& decided, const samples::DataSet& data,
                                 const KeptSamples* kept, const TrainingRun& run, calibrate::Statistics& statistics) {
  auto tuner = tuner_of(*job, decided, statistics);
  if (!tuner) return job;
  const int threads = thread_count(run.threads);
  Samples samples(data, kept, statistics, threads);
  config::GradientPTQConfig config = *job->settings.config.gradient_ptq_config;
  if (run.minutes) {
    config.n_epochs = epochs_in(*run.minutes, *job, decided, statistics, samples, threads);
    job = with_config(*job, config);
    tuner = tuner_of(*job, decided, statistics);
  }
  if (!run.resume.empty()) tuner->restore(map_file(run.resume).bytes);
  if (!run.quiet && tuner->bytes_per_runner() > 0)
    std::fprintf(stderr, "train: %lld steps of %d samples; at most %.0f MB of memory for each of %d threads\n",
                 static_cast<long long>(tuner->progress().steps), config.batch_size,
                 static_cast<double>(tuner->bytes_per_runner()) / 1e6, threads);
  auto runners = runners_of(*tuner, threads);
  {
    const InterruptGuard guard;
    TrainingLine line(run.quiet);
    auto saved = Clock::now();
    while (!tuner->done()) {
      run_round(*tuner, runners, samples);
      line.show(tuner->progress(), config.batch_size);
      if (interrupted != 0) tuner->stop();
      if (!run.checkpoint.empty() && (Clock::now() - saved > std::chrono::seconds(30) || interrupted != 0)) {
        write_checkpoint(*tuner, run.checkpoint);
        saved = Clock::now();
      }
    }
  }
  if (!run.checkpoint.empty()) write_checkpoint(*tuner, run.checkpoint);
  calibrate::TunedModel tuned = tuner->result();
  job = with_training(job, tuned);
  keep_tuned(std::move(tuned), decided, statistics);
  return job;
}

}  // namespace tersor::cli
