// SPDX-License-Identifier: Apache-2.0
#include "core/trial/contest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/cost/expected_time.h"
#include "core/job/tersor.h"

namespace tersor {

namespace {

/// A file with an error of a tenth of its outputs is usable (core/report/verdict.h).
constexpr double kUsable = 20;
/// So many times the size or the time is nothing that is paid for, nor are so many bytes.
constexpr double kSame = 1.01, kFewBytes = 4096;

/// To three digits: what prices say is worth no more.
double three_digits(double milliseconds) {
  double per_unit = 1;  // a power of ten: of units in a millisecond
  while (milliseconds * per_unit < 100 && per_unit < 1e9) per_unit *= 10;
  double unit = 1;
  while (milliseconds / unit >= 1000) unit *= 10;
  return std::floor(milliseconds * per_unit / unit + 0.5) * unit / per_unit;
}

}  // namespace

bool stores_constants(config::Preference word) {
  return word == config::Preference::kSize || word == config::Preference::kIntegers;
}

Contest::Contest(std::shared_ptr<const Job> job, calibrate::Choices plain, std::shared_ptr<quant::RangeMemo> ranges)
    : job_(std::move(job)),
      plain_(std::move(plain)),
      ranges_(std::move(ranges)),
      words_(job_->settings.config.contestants()) {
  std::reverse(words_.begin(), words_.end());
}

bool Contest::next() {
  if (words_.empty()) return false;
  word_ = words_.back();
  words_.pop_back();
  return true;
}

calibrate::Choices Contest::begins_with() const {
  calibrate::Choices choices = plain_;
  if (word_ != job_->settings.config.prefer) choices.changes.push_back("prefer=" + std::string(enum_word(word_)));
  return choices;
}

/// No word before began with the same plan and had the same tried on it.
bool Contest::is_new(const std::string& digest) const {
  return std::none_of(contenders_.begin(), contenders_.end(), [&](const Contender& one) {
    return one.digest == digest && (one.choices.in_float.empty() || !stores_constants(word_));
  });
}

bool Contest::enters(const std::string& digest, const calibrate::Statistics& seen) {
  if (!is_new(digest)) return false;
  digest_ = digest;
  if (contenders_.empty()) return true;
  Contender& first = contenders_[0];
  Contender one{{std::string(enum_word(word_))}, digest_, begins_with(), {}};
  if (!make_file(one.choices, seen, one.row)) return false;
  if (first.row.size_bytes == 0 && !make_file(first.choices, seen, first.row)) return false;
  if (may_win(one.row)) return true;
  contenders_.push_back(std::move(one));
  return false;
}

bool Contest::is_compared() const {
  return !contenders_.empty() && job_->settings.config.prefer == config::Preference::kBalanced;
}

bool Contest::may_lead(const std::vector<HeldError>& errors) const {
  return !is_compared() || may_gain({}, first_errors_, errors);
}

void Contest::take(calibrate::Choices choices, std::vector<HeldError> errors, const calibrate::Statistics& seen) {
  Contender one{{std::string(enum_word(word_))}, digest_, std::move(choices), std::move(errors)};
  one.row.sqnr_db = rounded_decibels(pooled_decibels(one.errors));
  if (contenders_.empty() || make_file(one.choices, seen, one.row)) contenders_.push_back(std::move(one));
}

/// Bytes and expected time of a file with these choices, made of the others; false where there is none. What needs the
/// samples once more changes neither.
bool Contest::make_file(const calibrate::Choices& choices, const calibrate::Statistics& seen,
                        calibrate::Contestant& row) const {
  try {
    Job job = *with_choices(job_, choices);
    job.ranges = ranges_;
    config::QuantizationConfig& config = job.settings.config;
    if (config.measures_bias()) config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
    config.weights_second_moment_correction = false;
    config.effort = 0;
    config.gradient_ptq_config.reset();
    const QuantizeResult result = quantize(job, seen);
    row.size_bytes = static_cast<int64_t>(result.bytes.size());
    row.quantized_ms = std::nullopt;
    if (const auto& prices = job.settings.platform.prices)
      if (const auto ms = cost::expected_milliseconds(result.model, *prices)) row.quantized_ms = three_digits(*ms);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// By size and expected time.
bool Contest::may_win(const calibrate::Contestant& row) const {
  const calibrate::Contestant& first = contenders_[0].row;
  const auto is_as_fast = [&](double factor) {
    return row.quantized_ms && first.quantized_ms && *row.quantized_ms <= factor * *first.quantized_ms;
  };
  switch (job_->settings.config.prefer) {
    case config::Preference::kSpeed:
      return is_as_fast(1);
    case config::Preference::kSize:
      return row.size_bytes <= first.size_bytes;
    case config::Preference::kBalanced:
      return is_as_fast(kSame) &&
             static_cast<double>(row.size_bytes) <= kSame * static_cast<double>(first.size_bytes) + kFewBytes;
    default:
      return true;
  }
}

/// Of those that are usable, or no worse than the first, the one that is best by the word that was asked for. By a
/// metric of the user's own those are usable that have no less of it than the first.
const Contest::Contender& Contest::best_contender() const {
  const auto decibels_of = [](const Contender& one) {
    return std::min(pooled_decibels(one.errors), median_decibels(one.errors));
  };
  const config::Preference prefer = job_->settings.config.prefer;
  const auto own_of = [](const Contender& one) {
    return one.errors.empty() || !one.errors[0].own ? std::nullopt : std::optional(one.errors[0].own->all);
  };
  const double usable = std::min(kUsable, decibels_of(contenders_[0]));
  const auto own = own_of(contenders_[0]);
  const Contender* best = &contenders_[0];
  for (const Contender& one : contenders_) {
    if (&one == best || one.errors.empty() || !may_win(one.row)) continue;
    if (prefer != config::Preference::kAccuracy && (own ? own_of(one) < own : decibels_of(one) < usable)) continue;
    const auto rank = [&](const Contender& each) {
      const double bytes = static_cast<double>(each.row.size_bytes), ms = each.row.quantized_ms.value_or(0),
                   noise = -*each.row.sqnr_db, loss = -own_of(each).value_or(0);
      return prefer == config::Preference::kSpeed  ? std::array{ms, loss, noise, bytes}
             : prefer == config::Preference::kSize ? std::array{bytes, ms, loss, noise}
                                                   : std::array{loss, noise, ms, bytes};
    };
    // The default is left for what surely gains alone.
    if (prefer == config::Preference::kBalanced ? compared({}, best->errors, one.errors).taken
                                                : rank(one) < rank(*best))
      best = &one;
  }
  return *best;
}

Contest::Chosen Contest::best() const {
  if (contenders_.empty()) return {plain_, {}};  // nothing can be made, which is said when it is asked for
  const Contender& best = best_contender();
  Chosen chosen{best.choices, best.errors};
  if (contenders_.size() == 1) return chosen;
  for (const Contender& one : contenders_) {
    chosen.choices.contestants.push_back(one.row);
    chosen.choices.contestants.back().taken = &one == &best;
  }
  return chosen;
}

}  // namespace tersor
