// SPDX-License-Identifier: Apache-2.0
#include "core/native/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/native/size_text.h"
#include "core/rounds/training_rounds.h"

namespace tersor {

namespace {

using Clock = std::chrono::steady_clock;

int fitting_threads(const tune::Tuner& tuner, int wanted) {
  const int64_t bytes = tuner.bytes_per_runner(), memory = physical_memory();
  if (bytes > memory && memory > 0)
    throw Error(ErrorCode::kOutOfMemory,
                "Training takes " + size_text(bytes) + " of memory and this machine has " + size_text(memory) + ".",
                "config.gradient_ptq_config", "Use a machine with more memory, or a model with smaller inputs.");
  return threads_that_fit(wanted, bytes, memory);
}

/// The epochs that fit into the time, by that of the first steps of a training, which is of no use afterwards.
int epochs_in(double minutes, TrainingRounds& pass, SampleInputs& inputs, int threads) {
  constexpr int64_t kTimedSteps = 3;
  const tune::Tuner& tuner = pass.tuner();
  const auto run_to = [&](int64_t step) {
    while (tuner.progress().step < step && !pass.done()) run_round(pass, inputs, threads);
    return Clock::now();
  };
  const auto begin = Clock::now(), first = run_to(1), last = run_to(1 + kTimedSteps);
  const double setup = std::chrono::duration<double>(first - begin).count(),
               step = std::chrono::duration<double>(last - first).count() / kTimedSteps;
  const double steps = (minutes * 60 - 2 * setup) / std::max(step * 1.1 * tuner.work_of_mean_step(), 1e-6);
  return static_cast<int>(std::clamp(std::floor(steps / static_cast<double>(tuner.steps_per_epoch())), 1.0, 1e5));
}

TrainingRounds& training_of(Gathering& gathering) {
  return static_cast<TrainingRounds&>(*gathering.pass());
}

}  // namespace

void train(Gathering& gathering, SampleInputs& inputs, const TrainingRun& run, const ProgressFunction& progress) {
  const int threads =
      fitting_threads(training_of(gathering).tuner(), std::min(inputs.threads(), static_cast<int>(tune::kLanes)));
  const auto samples = static_cast<int64_t>(gathering.gathered().statistics.samples.size());
  fan_out(threads, samples, [&](int thread, int64_t place) { inputs.at(thread, static_cast<size_t>(place), true); });
  if (run.minutes)
    gathering.train_for(run.resume.empty() ? epochs_in(*run.minutes, training_of(gathering), inputs, threads)
                                           : tune::epochs_of_checkpoint(run.resume));
  TrainingRounds& pass = training_of(gathering);
  if (!run.resume.empty()) pass.restore(run.resume);
  if (run.begin) run.begin(pass.tuner(), threads);
  auto saved = Clock::now();
  while (!pass.done()) {
    run_round(pass, inputs, threads);
    const tune::TuneProgress now = pass.tuner().progress();
    if (run.watch)
      run.watch(now, gathering.gathered().job->settings.config.gradient_ptq_config->batch_size);
    else
      report_progress(progress, {kTrain, now.step, now.steps, {}});
    if (run.stops && run.stops()) pass.stop();
    if (!run.keep || Clock::now() - saved < std::chrono::seconds(30)) continue;
    run.keep(pass.checkpoint());
    saved = Clock::now();
  }
  if (run.keep) run.keep(pass.checkpoint());
}

}  // namespace tersor
