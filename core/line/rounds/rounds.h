// SPDX-License-Identifier: Apache-2.0
// A pass over calibrated samples that proceeds in rounds. A trial, a sweep and a training are such passes. A round runs
// a program on its samples, adds up what they give, and comes to an outcome, which the next round starts from:
//
//   while (!pass.done()) {
//     std::vector<std::unique_ptr<RoundRunner>> runners;           // pass.runner(), one per thread
//     for (k : indices of pass.lists()) runner->run(k, inputs_of);  // on any runner, in any order
//     pass.take(pass.outcome(pass.joined(all runners' sums())));    // the runners are gone by then
//   }
//
// Sums and outcomes are bytes (base/byte_stream.h). Threads share a pass. Workers and processes without shared memory
// each have a pass of their own, exchange sums, and take the same outcomes. Sums are exact or in a fixed order, so the
// number of threads, workers and processes does not change a bit of the result.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/json_fwd.h"
#include "core/job/tersor.h"

namespace tersor {

/// Stages of the passes, as progress reports name them.
inline constexpr std::string_view kTry = "try", kCorrect = "correct", kTrain = "train";

/// What is gathered from the samples for quantize().
struct Gathered {
  std::shared_ptr<const Job> job;  // with the choices of the trial
  calibrate::Statistics statistics;
  Draft draft;
  int passes = 0;  // over the samples
};

/// The inputs of a sample that takes part, by its index in Rounds::places().
using InputsOf = std::function<std::vector<Tensor>(size_t sample)>;

/// Runs samples through a single round, for one thread.
class RoundRunner {
 public:
  virtual ~RoundRunner() = default;
  /// Runs the samples of an element of Rounds::lists(), in order. Errors of `inputs_of`, and as in run::Runner::run().
  virtual void run(size_t list, const InputsOf& inputs_of) = 0;
  /// The sums over the samples so far; call it once.
  virtual ByteBuffer sums() = 0;
};

class Rounds {
 public:
  virtual ~Rounds() = default;

  /// kTry, kCorrect or kTrain.
  virtual std::string_view stage() const = 0;
  /// The samples that take part, as indices of calibrated samples.
  virtual const std::vector<size_t>& places() const = 0;
  /// The number of rounds; none if it is not known in advance.
  virtual std::optional<size_t> count() const { return std::nullopt; }
  /// Workers have whole lanes: a sample belongs to the lane index % lanes(). None if any worker may have any sample.
  virtual std::optional<size_t> lanes() const { return std::nullopt; }
  /// True if later rounds ask for the inputs of a sample again.
  virtual bool asks_again() const { return false; }

  virtual bool done() const = 0;
  /// The samples of this round, as indices into places(). The samples of a list pass through one runner.
  virtual std::vector<std::vector<size_t>> lists() const = 0;
  virtual std::unique_ptr<RoundRunner> runner() = 0;
  /// Adds up the sums of several runners.
  virtual ByteBuffer joined(std::span<const std::span<const std::byte>> sums) const = 0;
  /// The result of the round, from the sums of all its samples.
  virtual ByteBuffer outcome(std::span<const std::byte> sums) const = 0;
  /// Ends the round.
  virtual void take(std::span<const std::byte> outcome) = 0;
  /// Adds the result of the pass, once it is done.
  virtual void keep(Gathered& gathered) = 0;

  /// Between two rounds: ends the pass early with what it has, if it can.
  virtual void stop() {}
  /// Between two rounds: figures to watch, or null.
  virtual Json progress() const;
  /// The state between two rounds, for restore(); empty if a pass of this kind cannot be continued.
  virtual ByteBuffer checkpoint() const { return {}; }
  /// Before the first round: continues from a checkpoint. All workers must do so.
  virtual void restore(std::span<const std::byte>) {}
};

/// The part of a pass that converts sums and outcomes to bytes. `Sums` has add(Sums).
template <class Sums, class Outcome>
class RoundsOf : public Rounds {
 public:
  ByteBuffer joined(std::span<const std::span<const std::byte>> sums) const override {
    Sums all;
    for (const auto& one : sums) all.add(from_bytes<Sums>(one));
    return to_bytes(all);
  }
  ByteBuffer outcome(std::span<const std::byte> sums) const override {
    return to_bytes(outcome_of(from_bytes<Sums>(sums)));
  }
  void take(std::span<const std::byte> outcome) override { take_outcome(from_bytes<Outcome>(outcome)); }

 private:
  virtual Outcome outcome_of(Sums sums) const = 0;
  virtual void take_outcome(Outcome outcome) = 0;
};

/// The passes that the job asks for; null if it does not, or if the statistics hold the result of such a pass.
/// `labels` are as in tuner_of().
std::unique_ptr<Rounds> trial_rounds(const Gathered& gathered);
std::unique_ptr<Rounds> sweep_rounds(const Gathered& gathered);
std::unique_ptr<Rounds> training_rounds(const Gathered& gathered, const std::vector<int64_t>& labels);

/// n_epochs of the training that a checkpoint is of. Errors as in tune::epochs_of_checkpoint().
int epochs_of_checkpoint(std::span<const std::byte> bytes);

}  // namespace tersor
