// SPDX-License-Identifier: Apache-2.0
// A sweep's work on samples.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/sweep/sweep.h"

namespace tersor::ptq {

/// Takes samples into a sweep; for one thread. `program` is the sweep's float_program(). The sweep must outlive it.
class SweepStart : private run::Observer {
 public:
  SweepStart(const Sweep& sweep, std::shared_ptr<const run::Program> program);
  SweepState operator()(std::span<const Tensor> inputs);

 private:
  void observe(const run::ObservedTensor& tensor) override;

  const Sweep& sweep_;
  std::optional<run::Runner> runner_;
  std::vector<ChannelSums> sums_;
};

/// Takes samples through one step; for one thread. The sweep must outlive it, and take() comes after it.
class SweepRunner {
 public:
  SweepRunner(const Sweep& sweep, size_t step, const SweepProgram& program);

  /// Corrects the sample by the step before, runs the step and adds up what it gives. `place` of the sample among
  /// those that take part. Errors as Runner::run.
  void advance(size_t place, SweepState& state);
  /// Of the samples so far, once.
  SweepSums sums();

 private:
  const Sweep& sweep_;
  size_t step_;
  run::Runner runner_;
  std::optional<run::Runner> before_;
  std::optional<GramCounter> counter_;
  ChannelSums outputs_, in_float_;
};

}  // namespace tersor::ptq
