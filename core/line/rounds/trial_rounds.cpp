// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/json.h"
#include "core/rounds/rounds.h"
#include "core/trial/trial_runner.h"

namespace tersor {

Json Rounds::progress() const {
  return nullptr;
}

namespace {

class TrialRounds : public RoundsOf<TrialSums, TrialOutcome> {
 public:
  explicit TrialRounds(const Gathered& gathered)
      : trial_(gathered.job, gathered.statistics), states_(trial_.places().size()) {}

  std::string_view stage() const override { return kTry; }
  const std::vector<size_t>& places() const override { return trial_.places(); }
  bool done() const override { return trial_.done(); }
  std::vector<std::vector<size_t>> lists() const override {
    std::vector<std::vector<size_t>> lists;
    for (const size_t sample : trial_.active()) lists.push_back({sample});
    return lists;
  }
  std::unique_ptr<RoundRunner> runner() override { return std::make_unique<Runner>(*this); }
  void keep(Gathered& gathered) override { gathered.statistics.choices = trial_.choices(); }

 private:
  class Runner : public RoundRunner {
   public:
    explicit Runner(TrialRounds& of) : of_(of), runner_(of.trial_) {}
    void run(size_t list, const InputsOf& inputs_of) override {
      const size_t sample = of_.trial_.active()[list];
      TrialState& state = of_.states_[sample];
      if (state.inputs.empty()) state.inputs = inputs_of(sample);
      runner_.advance(sample, state);
    }
    ByteBuffer sums() override { return to_bytes(runner_.sums()); }

   private:
    TrialRounds& of_;
    TrialRunner runner_;
  };

  TrialOutcome outcome_of(TrialSums sums) const override { return trial_.outcome(std::move(sums)); }
  void take_outcome(TrialOutcome outcome) override { trial_.take(std::move(outcome)); }

  Trial trial_;
  std::vector<TrialState> states_;  // by sample
};

}  // namespace

std::unique_ptr<Rounds> trial_rounds(const Gathered& gathered) {
  if (!Trial::is_wanted(*gathered.job, gathered.statistics)) return nullptr;
  return std::make_unique<TrialRounds>(gathered);
}

}  // namespace tersor
