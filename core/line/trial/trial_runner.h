// SPDX-License-Identifier: Apache-2.0
// A trial's work on samples.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/sweep/sweep_runner.h"
#include "core/trial/trial.h"

namespace tersor {

/// Takes samples through one round; for one thread. The trial must outlive it, and take() comes after it.
class TrialRunner {
 public:
  explicit TrialRunner(const Trial& trial);
  /// `sample`: one of Trial::active(). Errors as Runner::run.
  void advance(size_t sample, TrialState& state);
  /// Of the samples so far, once.
  TrialSums sums();

 private:
  const Trial& trial_;
  std::optional<calibrate::Calibrator> calibrator_;
  std::optional<run::Runner> runner_;
  std::optional<ptq::SweepStart> start_;
  std::optional<ptq::SweepRunner> step_;
  std::optional<mixed::SearchRunner> search_;
  std::vector<HeldError> errors_;
  std::vector<SampleDistances> distances_;
};

}  // namespace tersor
