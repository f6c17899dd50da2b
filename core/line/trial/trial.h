// SPDX-License-Identifier: Apache-2.0
// What is found by trying. Where a budget is set, first the bits of each operator (core/mixed/bit_search.h), on samples
// of all. Then corrections earn their place: a part of the calibration samples is held aside, models are made of (some
// of) the others with one correction taken back at a time, and what does not gain on the held samples is taken back for
// good. So it goes for each file that `prefer` is decided between (config::QuantizationConfig::contestants()), and the
// one that is best by that word is chosen. What is chosen is then made of all samples. It goes in rounds, as a sweep
// (ptq/sweep.h) goes in steps:
//
//   if (Trial::is_wanted(*job, statistics)) {
//     Trial trial(job, statistics);
//     std::vector<TrialState> states(trial.places().size());  // one per sample: {inputs}
//     while (!trial.done()) {
//       TrialRunner runner(trial);                             // one per thread, with sums of its own
//       for (k : trial.active()) runner.advance(k, states[k]);
//       trial.take(trial.outcome(all threads' runner.sums() added));
//     }
//     statistics.choices = trial.choices();
//   }
//
// Sums are exact and errors are by sample, so neither the number of threads nor the order of the samples changes a bit
// of the result. Workers that share no memory have a trial each, and all take the same outcomes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/calibrate/choices.h"
#include "core/trial/held_errors.h"
#include "core/mixed/bit_search.h"
#include "core/job/tersor.h"

namespace tersor {

/// Samples held aside may show that stored constants need floats, which `job` then has, in one of the files at least
/// that `prefer` is decided between.
bool may_ask_for_float_constants(const Job& job);

/// Of one sample in a step of the search for bits (core/mixed/bit_search.h).
struct SampleDistances {
  size_t sample = 0;  // index into Trial::places()
  std::vector<double> distances;
};

struct TrialSums {
  std::optional<calibrate::Statistics> statistics;
  ptq::SweepSums sweep;
  std::vector<HeldError> errors;
  std::vector<SampleDistances> distances;

  void add(TrialSums more);
};

struct TrialOutcome {
  std::optional<calibrate::Statistics> statistics;
  std::optional<ptq::SweepOutcome> sweep;
  std::vector<HeldError> errors;           // ascending by sample
  std::vector<SampleDistances> distances;  // ascending by sample
};

/// What a trial needs of one sample from round to round.
struct TrialState {
  std::vector<Tensor> inputs;
  std::vector<Tensor> in_float;  // outputs of the float model, of a held sample
  ptq::SweepState sweep;
  mixed::SearchState search;
};

class TrialRunner;

class Trial {
 public:
  /// Settings set a budget that bits are chosen within, or hold samples aside of which there are enough; and nobody has
  /// tried yet.
  static bool is_wanted(const Job& job, const calibrate::Statistics& statistics);

  /// `statistics` of the float model and all samples say which samples there are. `job` as prepare() made it.
  Trial(std::shared_ptr<const Job> job, const calibrate::Statistics& statistics);

  /// The samples that take part, as places among the calibrated ones: first those that models are made of, then those
  /// held aside, each ascending.
  const std::vector<size_t>& places() const { return places_; }

  bool done() const { return round_ == Round::kDone; }
  /// Which of places() take part in this round.
  const std::vector<size_t>& active() const { return active_; }
  TrialOutcome outcome(TrialSums sums) const;
  /// Ends the round. All that hold a part of the samples take the same.
  void take(TrialOutcome outcome);

  const calibrate::Choices& choices() const { return choices_; }

 private:
  friend class TrialRunner;

  enum class Round { kSearch, kCalibrate, kInFloat, kStart, kStep, kJudge, kDone };
  /// How the biases of a model that is tried are corrected, where the settings have them measured.
  enum class Biases {
    kOfStatistics,   // without a sweep
    kOfFew,          // measured on a few samples
    kAsTheSettings,  // measured on all the others
  };
  /// A model that is tried.
  struct Candidate {
    std::string change;  // empty: what has been chosen so far
    calibrate::Choices choices;
    Biases biases = Biases::kOfStatistics;
    bool rounds = false;  // with weights rounded as the settings have it, else to the nearest integers
  };

  void begin_search(const calibrate::Statistics& statistics);
  void take_distances(const std::vector<SampleDistances>& distances);
  void end_search(const std::vector<mixed::Configurable>& operators, const mixed::Sensitivities& sensitivities);
  void begin_trying();
  bool is_default(std::string_view field) const;
  /// What the settings and trying made of one word of `prefer`.
  struct Contender {
    calibrate::Contestant row;
    std::string digest;  // of the plan that it began with
    calibrate::Choices choices;
    std::vector<HeldError> errors;  // empty where it was ruled out without running samples
  };

  bool begin_word();
  void end_word();
  bool is_new() const;
  bool make_file(const calibrate::Choices& choices, calibrate::Contestant& row) const;
  bool may_win(const calibrate::Contestant& row) const;
  const Contender& best_contender() const;
  void choose_contender();
  bool stores_constants() const;
  bool prefers_accuracy() const { return job_->settings.config.prefer == config::Preference::kAccuracy; }
  void find_candidates();
  void begin_next();
  bool begin(Candidate candidate);
  void begin_step();
  void begin_judging();
  void judge(std::vector<HeldError> errors);
  void judge_measured(std::vector<HeldError> errors);
  void take_change(const std::string& change, std::vector<HeldError> errors);
  void judge_constants(std::vector<HeldError> errors);
  void complete(Candidate& candidate);
  std::vector<std::string> costly_constants() const;
  void finish();

  std::shared_ptr<const Job> job_;
  std::vector<size_t> places_, active_, others_, held_;  // the last three index places_
  std::vector<calibrate::SampleRecord> records_;         // by place
  calibrate::Choices choices_;
  bool tries_ = false;            // corrections, on samples held aside
  calibrate::Statistics whole_;   // of all samples, for the search
  std::vector<size_t> searched_;  // samples that the search takes, as an index into places_
  std::unique_ptr<mixed::BitSearch> search_;
  std::shared_ptr<const mixed::SearchProgram> search_program_;
  calibrate::Statistics seen_;                                                       // of the others
  std::shared_ptr<quant::RangeMemo> ranges_ = std::make_shared<quant::RangeMemo>();  // of all candidates
  std::vector<Candidate> waiting_;                                                   // the next one last
  std::set<std::string> judged_;                                                     // digests of plans
  std::vector<HeldError> best_;                                                      // of what is chosen so far
  std::vector<HeldError> measured_;     // the same with biases measured on few; empty while nobody asked
  std::vector<HeldError> promised_;     // of a change that gained, until it has done so with measured biases too
  std::vector<std::string> constants_;  // that are stored in integers, where nothing is changed
  std::optional<std::vector<HeldError>> all_float_;    // with all of them in float
  std::vector<std::pair<double, std::string>> costs_;  // of each: noise that it adds to that
  bool finishing_ = false;
  std::vector<config::Preference> words_;  // of which files are still to be made, the next one last
  config::Preference word_ = config::Preference::kBalanced;
  std::string word_digest_;            // of the plan that the word began with
  calibrate::Choices plain_;           // what every word begins with
  std::vector<Contender> contenders_;  // the first is what the others have to beat

  Round round_ = Round::kCalibrate;
  Candidate candidate_;
  std::shared_ptr<const Job> candidate_job_;
  std::optional<Draft> draft_;
  std::unique_ptr<ptq::Sweep> sweep_;
  size_t step_ = 0;
  std::vector<ptq::SweepOutcome> outcomes_;
  std::shared_ptr<const run::Program> program_;  // of this round
  ptq::SweepProgram step_program_;               // of this round, where it is a step of the sweep
};

}  // namespace tersor
