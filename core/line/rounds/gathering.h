// SPDX-License-Identifier: Apache-2.0
// The order of the passes over calibrated samples that settings ask for: trial, sweep, training.
//
//   Gathering gathering(job, statistics);
//   for (; gathering.pass(); gathering.next()) {
//     // takes the pass through its rounds (rounds.h)
//   }
//   quantize(...) of gathering.take();
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/rounds/rounds.h"

namespace tersor {

class Gathering {
 public:
  struct Options {
    /// Of all samples of the data set, by number, for gradient_ptq_config; empty: none.
    std::vector<int64_t> labels = {};
    bool trains = true;
  };

  /// Errors of draft() and tuner_of().
  Gathering(std::shared_ptr<const Job> job, calibrate::Statistics statistics, Options options);

  /// The current pass; null when there are no more.
  Rounds* pass() { return pass_.get(); }
  /// Keeps the result of the current pass, which is done, and begins the next one. Errors as in the constructor.
  void next();
  /// Before the first round of a training: begins it with another number of epochs.
  void train_for(int n_epochs);

  const Gathered& gathered() const { return gathered_; }
  Gathered take() { return std::move(gathered_); }

 private:
  enum class Stage { kTrial, kSweep, kTraining, kOver };

  void begin();
  std::unique_ptr<Rounds> training() const;

  Gathered gathered_;
  Options options_;
  Stage next_ = Stage::kTrial;
  std::unique_ptr<Rounds> pass_;
};

}  // namespace tersor
