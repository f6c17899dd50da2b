// SPDX-License-Identifier: Apache-2.0
// Decides between the files of several words of `prefer` (config::QuantizationConfig::contestants()): the best by the
// word that was asked for is chosen. The trial (core/trial/trial.h) tries changes for each of them:
//
//   Contest contest(job, choices, ranges);
//   while (contest.next()) {
//     // makes a plan with contest.begins_with()
//     if (!contest.enters(the plan's digest, seen)) continue;
//     // runs it on the held-out samples, and tries changes of it where contest.may_lead()
//     contest.take(the choices, their errors, seen);
//   }
//   contest.best();
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/calibrate/choices.h"
#include "core/calibrate/statistics.h"
#include "core/config/preference.h"
#include "core/job/job.h"
#include "core/trial/held_errors.h"

namespace tersor {

/// The word wants constants in integers at any cost.
bool stores_constants(config::Preference word);

class Contest {
 public:
  /// The choices in the end and their errors on the held-out samples; without errors if no file could be made.
  struct Chosen {
    calibrate::Choices choices;
    std::vector<HeldError> errors;
  };

  /// `plain`: the choices that every word starts from.
  Contest(std::shared_ptr<const Job> job, calibrate::Choices plain, std::shared_ptr<quant::RangeMemo> ranges);

  /// Moves on to the next word; false after the last one.
  bool next();
  config::Preference word() const { return word_; }
  calibrate::Choices begins_with() const;
  /// False if the word, whose plan has this digest, gives the same file as an earlier word, or cannot win. `seen`:
  /// statistics of the samples that the files are made from.
  bool enters(const std::string& digest, const calibrate::Statistics& seen);
  /// The current word is taken only if its file gains over the first word's.
  bool is_compared() const;
  /// The errors of the first word's file without changes, on all held-out samples, for may_lead().
  void begin(std::vector<HeldError> errors) { first_errors_ = std::move(errors); }
  /// False if the file of the current word without changes is compared and no better than the first word's on these
  /// samples, and only a better one is taken: trying changes would take as long again, and most gain as much in either
  /// file.
  bool may_lead(const std::vector<HeldError>& errors) const;
  /// Records the result of the trials for the word.
  void take(calibrate::Choices choices, std::vector<HeldError> errors, const calibrate::Statistics& seen);

  Chosen best() const;

 private:
  /// The result of the trials for a word of `prefer`.
  struct Contender {
    calibrate::Contestant row;
    std::string digest;  // of the plan that the trials started from
    calibrate::Choices choices;
    std::vector<HeldError> errors;  // empty if it was ruled out without running samples
  };

  bool is_new(const std::string& digest) const;
  bool make_file(const calibrate::Choices& choices, const calibrate::Statistics& seen,
                 calibrate::Contestant& row) const;
  bool may_win(const calibrate::Contestant& row) const;
  const Contender& best_contender() const;

  std::shared_ptr<const Job> job_;
  calibrate::Choices plain_;
  std::shared_ptr<quant::RangeMemo> ranges_;
  std::vector<config::Preference> words_;  // words whose files are still to be made; the next word is the last
  config::Preference word_ = config::Preference::kBalanced;
  std::string digest_;                 // of the plan that the trials of the word started from
  std::vector<Contender> contenders_;  // the first is the contender that the others must beat
  std::vector<HeldError> first_errors_;
};

}  // namespace tersor
