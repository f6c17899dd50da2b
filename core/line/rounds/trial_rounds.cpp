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
      : trial_(gathered.job, gathered.statistics),
        states_(trial_.places().size()),
        metric_(gathered.job->settings.metric) {
    for (const size_t place : trial_.places())
      numbers_.push_back(static_cast<int64_t>(gathered.statistics.samples[place].index));
  }

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
  void take_outcome(TrialOutcome outcome) override {
    if (metric_) add_own_figures(outcome.errors);
    trial_.take(std::move(outcome));
  }

  void add_own_figures(std::vector<HeldError>& errors) const {
    std::vector<evaluate::SampleOutputs> samples;
    for (const HeldError& one : errors) samples.push_back({numbers_[one.sample], &states_[one.sample].outputs});
    const evaluate::OwnFigures figures = evaluate::own_figures(*metric_, samples, samples.size());
    for (size_t k = 0; k < figures.without.size(); ++k) errors[k].own = {figures.all, figures.without[k]};
  }

  Trial trial_;
  std::vector<TrialState> states_;  // by sample
  std::vector<int64_t> numbers_;    // of the samples in the data set
  std::shared_ptr<const evaluate::OwnMetric> metric_;
};

}  // namespace

std::unique_ptr<Rounds> trial_rounds(const Gathered& gathered) {
  if (!Trial::is_wanted(*gathered.job, gathered.statistics)) return nullptr;
  return std::make_unique<TrialRounds>(gathered);
}

}  // namespace tersor
