// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/rounds/rounds.h"
#include "core/sweep/sweep_runner.h"

namespace tersor {

namespace {

class SweepRounds : public RoundsOf<ptq::SweepSums, ptq::SweepOutcome> {
 public:
  explicit SweepRounds(std::unique_ptr<ptq::Sweep> sweep)
      : sweep_(std::move(sweep)), states_(sweep_->places().size()) {}

  std::string_view stage() const override { return kCorrect; }
  const std::vector<size_t>& places() const override { return sweep_->places(); }
  std::optional<size_t> count() const override { return sweep_->steps(); }
  bool done() const override { return outcomes_.size() == sweep_->steps(); }
  std::vector<std::vector<size_t>> lists() const override {
    std::vector<std::vector<size_t>> lists;
    for (size_t sample = 0; sample < states_.size(); ++sample) lists.push_back({sample});
    return lists;
  }
  std::unique_ptr<RoundRunner> runner() override {
    if (!program_) program_ = sweep_->program(step());
    if (step() == 0 && !in_float_) in_float_ = sweep_->float_program();
    return std::make_unique<Runner>(*this);
  }
  void keep(Gathered& gathered) override {
    keep_outcomes(*gathered.job, *sweep_, std::move(outcomes_), gathered.draft, gathered.statistics);
    ++gathered.passes;
  }

 private:
  class Runner : public RoundRunner {
   public:
    explicit Runner(SweepRounds& of) : of_(of), runner_(*of.sweep_, of.step(), *of.program_) {
      if (of.step() == 0) start_.emplace(*of.sweep_, of.in_float_);
    }
    void run(size_t list, const InputsOf& inputs_of) override {
      // Most inputs are needed in the first step alone, which leaves them as integers.
      if (start_) of_.states_[list] = (*start_)(inputs_of(list));
      runner_.advance(list, of_.states_[list]);
    }
    ByteBuffer sums() override { return to_bytes(runner_.sums()); }

   private:
    SweepRounds& of_;
    std::optional<ptq::SweepStart> start_;
    ptq::SweepRunner runner_;
  };

  size_t step() const { return outcomes_.size(); }
  ptq::SweepOutcome outcome_of(ptq::SweepSums sums) const override { return sweep_->outcome(step(), sums); }
  void take_outcome(ptq::SweepOutcome outcome) override {
    in_float_ = nullptr;
    program_.reset();
    sweep_->take(step(), outcome);
    outcomes_.push_back(std::move(outcome));
  }

  std::unique_ptr<ptq::Sweep> sweep_;
  std::vector<ptq::SweepState> states_;  // by sample
  std::vector<ptq::SweepOutcome> outcomes_;
  std::optional<ptq::SweepProgram> program_;      // of this step
  std::shared_ptr<const run::Program> in_float_;  // for the first step
};

}  // namespace

std::unique_ptr<Rounds> sweep_rounds(const Gathered& gathered) {
  auto found = sweep(*gathered.job, gathered.draft);
  return found ? std::make_unique<SweepRounds>(std::move(found)) : nullptr;
}

}  // namespace tersor
