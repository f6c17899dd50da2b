// SPDX-License-Identifier: Apache-2.0
// Runs the samples of a thread through a trial.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/sweep/sweep_runner.h"
#include "core/trial/trial.h"

namespace tersor {

/// Runs samples through a single round, for one thread. The trial must outlive it, and Trial::take() must come after
/// it.
class TrialRunner {
 public:
  explicit TrialRunner(const Trial& trial);
  /// Runs a sample; `sample` is an element of Trial::active(). Errors as in Runner::run().
  void advance(size_t sample, TrialState& state);
  /// The sums over the samples so far; call it once.
  TrialSums sums();

 private:
  std::vector<Tensor> outputs_of(const std::vector<Tensor>& inputs);

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
