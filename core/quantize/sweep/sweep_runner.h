// SPDX-License-Identifier: Apache-2.0
// Runs the samples of a thread through a sweep.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/sweep/sweep.h"

namespace tersor::ptq {

/// Makes the initial state of samples, for one thread. `program` is the sweep's float_program(). The sweep must outlive
/// it.
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

/// Runs samples through a single step, for one thread. The sweep must outlive it, and Sweep::take() must come after it.
class SweepRunner {
 public:
  SweepRunner(const Sweep& sweep, size_t step, const SweepProgram& program);

  /// Applies the previous step's result to the sample, runs the step and adds to the sums. `place` is the position of
  /// the sample among those that take part. Errors as in Runner::run().
  void advance(size_t place, SweepState& state);
  /// The sums over the samples so far; call it once.
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
