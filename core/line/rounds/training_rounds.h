// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/rounds/rounds.h"

namespace tersor {

/// A training as a pass, for callers that watch its tuner.
class TrainingRounds : public RoundsOf<tune::TuneSums, tune::TuneSums> {
 public:
  TrainingRounds(std::unique_ptr<tune::Tuner> tuner, const Gathered& gathered);

  const tune::Tuner& tuner() const { return *tuner_; }

  std::string_view stage() const override { return kTrain; }
  const std::vector<size_t>& places() const override { return places_; }
  std::optional<size_t> count() const override { return static_cast<size_t>(tuner_->rounds()); }
  std::optional<size_t> lanes() const override { return tune::kLanes; }
  bool asks_again() const override { return true; }
  bool done() const override { return tuner_->done(); }
  std::vector<std::vector<size_t>> lists() const override;
  std::unique_ptr<RoundRunner> runner() override;
  void keep(Gathered& gathered) override;
  void stop() override { tuner_->stop(); }
  Json progress() const override;
  ByteBuffer checkpoint() const override { return tuner_->checkpoint(); }
  void restore(std::span<const std::byte> bytes) override { tuner_->restore(bytes); }

 private:
  class Runner;

  tune::TuneSums outcome_of(tune::TuneSums sums) const override { return sums; }
  void take_outcome(tune::TuneSums sums) override { tuner_->take(std::move(sums)); }

  std::unique_ptr<tune::Tuner> tuner_;
  int batch_size_;
  std::vector<size_t> places_;
  std::vector<std::unique_ptr<tune::TuneRunner>> idle_;  // for the next round
  int64_t bytes_;                                        // that a runner needs at most; 0: not known
  mutable std::optional<double> work_;                   // Tuner::work_of_mean_step(), once it was asked for
};

}  // namespace tersor
