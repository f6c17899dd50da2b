// SPDX-License-Identifier: Apache-2.0
// Chooses settings by trials on samples.
//
// If a budget is set, the bits of each operator are searched first (core/mixed/bit_search.h), on samples from the whole
// set. Then corrections are tried. A part of the calibration samples is held out, and candidate models are made from
// (some of) the others, each with one correction switched off, with ranges that clip nothing, or with a constant in
// float. A change that gains on the held-out samples is kept. This is repeated for each file that `prefer` is decided
// between (core/trial/contest.h), and the best by that word is chosen. The final file is made from all samples. Trials
// proceed in rounds, as a sweep (sweep/sweep.h) proceeds in steps:
//
//   if (Trial::is_wanted(*job, statistics)) {
//     Trial trial(job, statistics);
//     std::vector<TrialState> states(trial.places().size());  // one per sample: {inputs}
//     while (!trial.done()) {
//       TrialRunner runner(trial);                             // one per thread; has its own sums
//       for (k : trial.active()) runner.advance(k, states[k]);
//       trial.take(trial.outcome(all threads' runner.sums() added));
//     }
//     statistics.choices = trial.choices();
//   }
//
// Sums are exact and errors are per sample, so neither the number of threads nor the order of the samples changes a bit
// of the result. Workers without shared memory each have a trial and take the same outcomes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/calibrate/choices.h"
#include "core/calibrate/statistics_bytes.h"
#include "core/job/tersor.h"
#include "core/trial/bit_trial.h"
#include "core/trial/constant_trial.h"
#include "core/trial/contest.h"
#include "core/trial/held_errors.h"

namespace tersor {

/// The change that leaves out the sweep, which rounds weights and measures biases on samples.
inline constexpr const char* kAnalytic = "weights_bias_correction_method=ANALYTIC";

/// True if held-out samples may show that stored constants need float, in at least one file that `prefer` is decided
/// between.
bool may_ask_for_float_constants(const Job& job);

/// What the runners of a round sum over samples; only the members that the round needs are set.
struct TrialSums {
  std::optional<calibrate::Statistics> statistics;
  ptq::SweepSums sweep;
  std::vector<HeldError> errors;
  std::vector<SampleDistances> distances;

  static constexpr auto fields() {
    using S = TrialSums;
    return members(&S::statistics, &S::sweep, &S::errors, &S::distances);
  }
  void add(TrialSums more);
};

/// The result of a round.
struct TrialOutcome {
  std::optional<calibrate::Statistics> statistics;
  std::optional<ptq::SweepOutcome> sweep;
  std::vector<HeldError> errors;           // ascending by sample
  std::vector<SampleDistances> distances;  // ascending by sample

  static constexpr auto fields() {
    using O = TrialOutcome;
    return members(&O::statistics, &O::sweep, &O::errors, &O::distances);
  }
};

/// What a trial keeps of a sample from round to round.
struct TrialState {
  std::vector<Tensor> inputs;
  std::vector<Tensor> in_float;  // outputs of the float model; only for held-out samples
  std::vector<Tensor> outputs;   // of the candidate, for a metric of the user's own
  ptq::SweepState sweep;
  mixed::SearchState search;
};

class TrialRunner;

/// Runs the trials of a job, round by round, and gives the choices.
class Trial {
 public:
  /// True if the settings set a budget for bits, or ask to hold samples out and there are enough. The model must be
  /// runnable, and `statistics` must not hold choices for these settings yet.
  static bool is_wanted(const Job& job, const calibrate::Statistics& statistics);

  /// `statistics` are those of the float model over all samples. `job` is as prepare() made it.
  Trial(std::shared_ptr<const Job> job, const calibrate::Statistics& statistics);

  /// The samples that take part, as indices of calibrated samples: first those that models are made from, then those
  /// held out, each ascending.
  const std::vector<size_t>& places() const { return places_; }

  bool done() const { return round_ == Round::kDone; }
  /// Indices into places() of the samples that take part in this round.
  const std::vector<size_t>& active() const { return active_; }
  TrialOutcome outcome(TrialSums sums) const;
  /// Ends the round. All workers that hold samples must take the same outcome.
  void take(TrialOutcome outcome);

  const calibrate::Choices& choices() const { return choices_; }

 private:
  friend class TrialRunner;

  enum class Round { kSearch, kCalibrate, kInFloat, kStart, kStep, kJudge, kDone };
  /// How the biases of a candidate are corrected if the settings have them measured.
  enum class Biases {
    kOfStatistics,   // without a sweep
    kOfFew,          // measured on a few samples
    kAsTheSettings,  // measured on all samples that are not held out
  };
  /// The choices so far.
  struct Unchanged {};
  /// The choices so far, with biases and weights as the settings have them measured on the samples.
  struct Measured {};
  /// The choices so far, with one field set otherwise, "field=word".
  struct Correction {
    std::string change;
  };
  /// A model to be judged.
  struct Candidate {
    std::variant<Unchanged, Measured, Correction, ConstantTrial::InFloat> subject;
    calibrate::Choices choices;
    Biases biases = Biases::kOfStatistics;
    bool rounds = false;  // weights are rounded as the settings say, else to the nearest integers
  };

  void end_search();
  void begin_trying();
  bool is_default(std::string_view field) const;
  bool begin_word();
  bool prefers_accuracy() const { return job_->settings.config.prefer == config::Preference::kAccuracy; }
  void find_candidates();
  std::optional<Candidate> next_candidate();
  void begin_next();
  bool begin(Candidate candidate);
  void begin_step();
  void begin_judging();
  void judge_more();
  bool may_still_gain() const;
  std::string change() const;
  const std::vector<HeldError>& before() const;
  calibrate::TriedChange judged(const std::vector<HeldError>& errors) const;
  void judge();
  void judge(const Unchanged&, std::vector<HeldError> errors);
  void judge(const Measured&, std::vector<HeldError> errors);
  void judge(const Correction& correction, std::vector<HeldError> errors);
  void judge(const ConstantTrial::InFloat& constants, std::vector<HeldError> errors);
  std::shared_ptr<const run::Program> candidate_program() const;
  void finish();

  std::shared_ptr<const Job> job_;
  std::vector<size_t> places_, active_, others_, held_;  // the last three are indices into places_
  std::vector<calibrate::SampleRecord> records_;         // by place
  calibrate::Choices choices_;
  bool tries_ = false;            // corrections are tried, on samples held out
  std::vector<size_t> searched_;  // indices into places_ of the samples for the search
  std::optional<BitTrial> bits_;
  calibrate::Statistics seen_;  // of the samples that are not held out
  std::shared_ptr<quant::RangeMemo> ranges_ = std::make_shared<quant::RangeMemo>();  // shared by all candidates
  std::vector<Candidate> waiting_;          // corrections that are still to be tried; the next is the last
  std::set<std::string> judged_;            // digests of plans that were judged
  std::vector<HeldError> best_;             // errors with the choices so far
  std::vector<HeldError> measured_;         // best_ with biases measured on few samples; empty until needed
  std::vector<HeldError> promised_;         // errors of a change that gained, until it also gains with measured biases
  std::optional<ConstantTrial> constants_;  // if some may need float
  size_t stride_ = 1;                       // every so many of the held-out samples have been run, in this round too
  std::vector<HeldError> errors_;           // of the candidate on them; ascending by sample
  bool finishing_ = false;
  std::unique_ptr<Contest> contest_;

  Round round_ = Round::kCalibrate;
  Candidate candidate_;
  std::shared_ptr<const Job> candidate_job_;
  std::optional<Draft> draft_;
  std::unique_ptr<ptq::Sweep> sweep_;
  size_t step_ = 0;
  std::vector<ptq::SweepOutcome> outcomes_;
  std::shared_ptr<const run::Program> program_;  // of this round
  ptq::SweepProgram step_program_;               // of this round, if it is a step of the sweep
};

}  // namespace tersor
