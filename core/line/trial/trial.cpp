// SPDX-License-Identifier: Apache-2.0
#include "core/trial/trial.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/json.h"
#include "core/config/search_settings.h"
#include "core/correct/corrections.h"
#include "core/export/apply_plan.h"
#include "core/graph/softmax_input.h"
#include "core/graph/uses.h"
#include "core/job/body_job.h"
#include "core/ops/registry.h"
#include "core/samples/selection.h"
#include "core/simulate/operators.h"

namespace tersor {

namespace {

constexpr size_t kFewestSamples = 16;  // of which to hold some aside
constexpr size_t kFewestHeld = 8, kMostHeld = 16;
constexpr size_t kFewestOthers = 8, kMostOthers = 24;
constexpr size_t kFewestJudged = 4;  // held-out samples that may rule a change out
constexpr size_t kFew = 8;           // that biases are measured on where a change has to gain with them
constexpr int64_t kSweepBytes = int64_t{32} << 20;
/// Where the outputs are as good as this, in dB, nothing is asked of constants in integers, which make the file small.
constexpr double kGoodEnough = 30;

/// Bytes of one sample's inputs, as far as they were watched.
int64_t input_bytes(const Job& job, const calibrate::Statistics& statistics) {
  int64_t bytes = 0;
  for (const ValueId input : job.model.graph.inputs)
    if (const auto* seen = statistics.find(job.model.graph.name_of(input)))
      bytes += static_cast<int64_t>(seen->elements / statistics.samples.size() * sizeof(float));
  return bytes;
}

/// After the model's outputs those values that are judged in their place.
run::ProgramOptions judged_values(const Model& model) {
  const Uses uses(model.graph);
  run::ProgramOptions options;
  std::vector<ValueId> values;
  for (const ValueId output : model.graph.outputs) values.push_back(value_before_softmax(model.graph, uses, output));
  options.fetched = std::move(values);
  return options;
}

/// The same in what the file of a quantized model computes; none where a tensor is not found there by its name.
std::optional<run::ProgramOptions> judged_values_of_file(const Model& quantized, const Model& file) {
  run::ProgramOptions options = judged_values(quantized);
  for (size_t k = 0; k < options.fetched.size(); ++k) {
    ValueId& value = options.fetched[k];
    const auto found = file.graph.find(quantized.graph.name_of(value));
    if (!found) return std::nullopt;
    value = value == quantized.graph.outputs[k] ? file.graph.outputs[k] : *found;
  }
  return options;
}

}  // namespace

void TrialSums::add(TrialSums more) {
  if (more.statistics) {
    if (statistics)
      calibrate::merge(*statistics, *more.statistics);
    else
      statistics = std::move(more.statistics);
  }
  sweep.add(std::move(more.sweep));
  std::move(more.errors.begin(), more.errors.end(), std::back_inserter(errors));
  std::move(more.distances.begin(), more.distances.end(), std::back_inserter(distances));
}

namespace {

/// Where every output is quantized a float constant takes what follows out of the integers; and some words want
/// constants in integers, whatever it costs.
bool tries_float_constants(const Job& job, config::Preference word) {
  return job.attachment.export_rules.placement == tpc::Placement::kOperands && !stores_constants(word);
}

bool tries_corrections(const Job& job, const calibrate::Statistics& statistics) {
  return job.settings.config.holdout && statistics.samples.size() >= kFewestSamples;
}

}  // namespace

bool may_ask_for_float_constants(const Job& job) {
  const config::QuantizationConfig& config = job.settings.config;
  const auto words = config.contestants();
  return config.holdout && !job.asked && std::any_of(words.begin(), words.end(), [&](config::Preference word) {
           return tries_float_constants(job, word);
         });
}

bool Trial::is_wanted(const Job& job, const calibrate::Statistics& statistics) {
  const bool something = job.settings.config.mixes_precisions() || tries_corrections(job, statistics);
  return something && !job.asked && statistics.choices.settings != choices_key(job) &&
         run::unsupported(job.model, ops::standard()).empty();
}

Trial::Trial(std::shared_ptr<const Job> job, const calibrate::Statistics& statistics)
    : job_(std::move(job)), tries_(tries_corrections(*job_, statistics)) {
  const size_t total = statistics.samples.size();
  const size_t held = tries_ ? std::clamp(total / 4, kFewestHeld, kMostHeld) : 0;
  std::vector<bool> is_held(total, false);
  for (size_t k = 0; k < held; ++k) is_held[(2 * k + 1) * total / (2 * held)] = true;
  std::vector<size_t> others;
  for (size_t place = 0; place < total; ++place)
    if (!is_held[place]) others.push_back(place);
  constexpr int64_t kInputBytes = int64_t{64} << 20;  // kept for all rounds
  const int64_t fitting = kInputBytes / std::max<int64_t>(1, input_bytes(*job_, statistics));
  const auto room =
      static_cast<int64_t>(std::clamp<int64_t>(fitting - static_cast<int64_t>(held), kFewestOthers, kMostOthers));
  if (tries_)
    for (const int64_t k : samples::spread_evenly(static_cast<int64_t>(others.size()), room))
      places_.push_back(others[static_cast<size_t>(k)]);
  const size_t used = places_.size();
  for (size_t place = 0; tries_ && place < total; ++place)
    if (is_held[place]) places_.push_back(place);
  for (size_t k = 0; k < places_.size(); ++k) (k < used ? others_ : held_).push_back(k);
  if (job_->settings.config.mixes_precisions()) {
    const int wanted = config::mixed_precision_of(job_->settings.config).num_of_images;
    const auto images = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(fitting, kFewestOthers));
    for (const int64_t k : samples::spread_evenly(static_cast<int64_t>(total), images)) {
      const auto place = static_cast<size_t>(k);
      const auto known = std::find(places_.begin(), places_.end(), place);
      searched_.push_back(static_cast<size_t>(known - places_.begin()));
      if (known == places_.end()) places_.push_back(place);
    }
    std::sort(searched_.begin(), searched_.end());
  }
  for (const size_t place : places_) records_.push_back(statistics.samples[place]);
  choices_.settings = choices_key(*job_);
  choices_.held = static_cast<int64_t>(held);
  choices_.others = static_cast<int64_t>(used);
  if (searched_.empty()) {
    begin_trying();
    return;
  }
  bits_.emplace(job_, statistics);
  round_ = Round::kSearch;
  active_ = searched_;
  if (bits_->done()) end_search();
}

void Trial::end_search() {
  choices_.bits = bits_->result(searched_.size());
  bits_.reset();
  begin_trying();
}

void Trial::begin_trying() {
  round_ = Round::kCalibrate;
  active_ = others_;
  if (!tries_) finish();
}

TrialOutcome Trial::outcome(TrialSums sums) const {
  TrialOutcome outcome{std::move(sums.statistics), std::nullopt, std::move(sums.errors), std::move(sums.distances)};
  if (round_ == Round::kStep) outcome.sweep = sweep_->outcome(step_, sums.sweep);
  const auto by_sample = [](const auto& a, const auto& b) { return a.sample < b.sample; };
  std::sort(outcome.errors.begin(), outcome.errors.end(), by_sample);
  std::sort(outcome.distances.begin(), outcome.distances.end(), by_sample);
  return outcome;
}

void Trial::take(TrialOutcome outcome) {
  switch (round_) {
    case Round::kSearch:
      bits_->take(outcome.distances);
      if (bits_->done()) end_search();
      return;
    case Round::kCalibrate:
      TERSOR_CHECK(outcome.statistics);
      seen_ = std::move(*outcome.statistics);
      program_ = run::Program::compile(job_->model, ops::standard(), judged_values(job_->model));
      round_ = Round::kInFloat;
      active_ = held_;
      return;
    case Round::kInFloat:
      contest_ = std::make_unique<Contest>(job_, choices_, ranges_);
      return begin_next();
    case Round::kStart:
      step_ = 0;
      return begin_step();
    case Round::kStep:
      TERSOR_CHECK(outcome.sweep);
      sweep_->take(step_, *outcome.sweep);
      outcomes_.push_back(std::move(*outcome.sweep));
      if (++step_ < sweep_->steps()) return begin_step();
      keep_outcomes(*candidate_job_, *sweep_, std::move(outcomes_), *draft_, seen_);
      return begin_judging();
    case Round::kJudge:
      std::move(outcome.errors.begin(), outcome.errors.end(), std::back_inserter(errors_));
      std::sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
      if (stride_ > 1 && may_still_gain()) {
        stride_ /= 2;
        return judge_more();
      }
      return judge();
    case Round::kDone:
      return;
  }
}

/// A field that a person set to something else is theirs.
bool Trial::is_default(std::string_view field) const {
  static const Json defaults = config::to_json(config::QuantizationConfig{});
  const std::string name(field);
  return config::to_json(job_->settings.config)[name] == defaults[name];
}

/// Begins with the next word that gives another file than those before it and may be the best; false where none does.
bool Trial::begin_word() {
  while (contest_->next()) {
    choices_ = contest_->begins_with();
    judged_.clear(), best_.clear(), measured_.clear(), constants_.reset();
    finishing_ = false;
    if (!begin({Unchanged{}, choices_}) || !contest_->enters(draft_->digest, seen_)) continue;
    find_candidates();
    return true;
  }
  return false;
}

/// In the order in which they are tried, each on top of what was taken before it.
void Trial::find_candidates() {
  std::vector<Correction> all;
  config::QuantizationConfig config = job_->settings.config;
  config.prefer = contest_->word();
  // The last to act first: what it was made for may be there without it.
  const auto corrections = ptq::corrections();
  for (auto one = corrections.rbegin(); one != corrections.rend(); ++one)
    if (one->is_tried && is_default(one->field) && one->is_wanted(config))
      all.push_back({std::string(one->field) + "=false"});
  if (is_default("activation_threshold_method")) all.push_back({kUnclipped});
  for (auto one = all.rbegin(); one != all.rend(); ++one) waiting_.push_back({*one, {}});
}

/// The next candidate of this word, on top of what is chosen by then: constants first, then corrections.
std::optional<Trial::Candidate> Trial::next_candidate() {
  Candidate next{Unchanged{}, choices_};
  if (auto constants = constants_ ? constants_->next() : std::nullopt) {
    next.choices.in_float = constants->names;
    next.subject = std::move(*constants);
  } else if (waiting_.empty()) {
    return std::nullopt;
  } else {
    next.subject = std::move(waiting_.back().subject);
    next.biases = waiting_.back().biases;
    waiting_.pop_back();
    if (const auto* correction = std::get_if<Correction>(&next.subject))
      next.choices.changes.push_back(correction->change);
  }
  return next;
}

void Trial::begin_next() {
  while (std::optional<Candidate> next = next_candidate())
    if (begin(std::move(*next))) return;
  if (!best_.empty() && !finishing_) {
    finishing_ = true;
    if (is_default("weights_bias_correction")) waiting_.push_back({Correction{"weights_bias_correction=false"}, {}});
    if (job_->settings.config.measures_bias() && begin({Measured{}, choices_, Biases::kAsTheSettings})) return;
    return begin_next();
  }
  if (!best_.empty()) contest_->take(choices_, best_, seen_);
  if (begin_word()) return;
  Contest::Chosen chosen = contest_->best();
  choices_ = std::move(chosen.choices), best_ = std::move(chosen.errors);
  finish();
}

namespace {

/// By name, in the order of the graph, each once; then those that bodies read.
std::vector<std::string> stored_constants(const Draft& draft, const Job& job) {
  std::vector<std::string> names;
  for (const ptq::ConstantPlan& one : draft.plan.constants) {
    if (one.tied) continue;  // a kernel has its integers anyway
    const std::string& name = draft.model.graph.name_of(draft.model.graph.find(one.node)->inputs[one.input]);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (job.bodies)
    for (const ptq::BodyWeight& one : job.bodies->kernels.weights)
      if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
  return names;
}

}  // namespace

/// False where it is no other model than one that was judged, or none at all.
bool Trial::begin(Candidate candidate) {
  program_ = nullptr;  // its packed weights are not to stay beside those of the next
  try {
    auto job = std::make_shared<Job>(*with_choices(job_, candidate.choices));
    job->asked = job_;
    job->ranges = ranges_;
    // What is compared has its biases as statistics alone correct them, so that no sweep is due for each.
    if (candidate.biases == Biases::kOfStatistics && job->settings.config.measures_bias())
      job->settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
    // Rounding, which takes longest, holds samples aside itself, kernel by kernel (sweep/round_weights.h).
    if (!candidate.rounds) job->settings.config.effort = 0;
    seen_.measured = {}, seen_.rounded = {};
    Draft draft = tersor::draft(*job, seen_);
    const auto* constants = std::get_if<ConstantTrial::InFloat>(&candidate.subject);
    std::string model = draft.digest + std::to_string(static_cast<int>(candidate.biases));
    if (candidate.rounds) model += "+";
    for (const std::string& name : candidate.choices.in_float) model += "\n" + name;  // bodies' are not in the plan
    const bool is_new = judged_.insert(std::move(model)).second;
    if (!is_new && !(constants != nullptr && constants->is_last)) return false;
    candidate_job_ = std::move(job);
    draft_ = std::move(draft);
  } catch (const Error&) {
    return false;  // settings that leave nothing to quantize, say
  }
  candidate_ = std::move(candidate);
  ptq::SweepOptions options;
  options.memory = kSweepBytes;
  if (candidate_.biases == Biases::kOfFew) options.most_samples = kFew;
  sweep_ = candidate_.biases != Biases::kOfStatistics ? tersor::sweep(*candidate_job_, *draft_, options) : nullptr;
  outcomes_.clear();
  if (!sweep_) {
    begin_judging();
    return true;
  }
  round_ = Round::kStart;
  active_ = sweep_->places();
  program_ = sweep_->float_program();
  return true;
}

void Trial::begin_step() {
  round_ = Round::kStep;
  step_program_ = sweep_->program(step_);
}

void Trial::begin_judging() {
  round_ = Round::kJudge;
  stride_ = 1;
  if (!job_->settings.metric && may_still_gain())  // what the user's own metric says is of all samples
    while (stride_ * 2 * kFewestJudged <= held_.size()) stride_ *= 2;
  judge_more();
  sweep_ = nullptr;
  program_ = candidate_program();
}

/// What the candidate is judged by: a .tflite file by its own integers where all of them are known here, and other
/// files by floats that imitate integers.
std::shared_ptr<const run::Program> Trial::candidate_program() const {
  const ptq::QuantizationPlan plan = corrected_plan(*candidate_job_, *draft_, seen_.measured);
  if (job_->settings.format == FileFormat::kTflite) try {
      const Model quantized = ptq::apply_plan(draft_->model, plan);
      if (const auto file = tflite_model(quantized))
        if (auto options = judged_values_of_file(quantized, *file))
          return run::Program::compile(*file, simulate::registry(simulate::Profile::kTfliteMicro), *options);
    } catch (const Error&) {
      // It cannot be written; that is said where it is chosen.
    }
  Model quantized = ptq::apply_restored(draft_->model, plan);
  store_body_weights(*candidate_job_, quantized);
  return run::Program::compile(quantized, ops::standard(), judged_values(quantized));
}

/// Every so many of the held-out samples, without those that were run before.
void Trial::judge_more() {
  active_.clear();
  for (size_t k = 0; k < held_.size(); k += stride_)
    if (errors_.empty() || k % (2 * stride_) != 0) active_.push_back(held_[k]);
}

/// The candidate is taken only for a gain, and the samples so far do not rule it out.
bool Trial::may_still_gain() const {
  const auto* constants = std::get_if<ConstantTrial::InFloat>(&candidate_.subject);
  const bool is_compared =
      constants != nullptr ? constants->stored.empty() : std::holds_alternative<Correction>(candidate_.subject);
  return is_compared && may_gain(change(), before(), errors_);
}

/// The change that the candidate is compared for; constants have one for each of them.
std::string Trial::change() const {
  const auto* correction = std::get_if<Correction>(&candidate_.subject);
  return correction != nullptr ? correction->change : "float";
}

const std::vector<HeldError>& Trial::before() const {
  return candidate_.biases == Biases::kOfFew ? measured_ : best_;
}

/// A change that few samples ruled out is not taken.
calibrate::TriedChange Trial::judged(const std::vector<HeldError>& errors) const {
  calibrate::TriedChange row = compared(change(), before(), errors);
  row.taken = row.taken && errors.size() == held_.size();
  return row;
}

void Trial::judge() {
  const auto subject = candidate_.subject;
  active_.clear();
  std::visit([this](const auto& one) { judge(one, std::exchange(errors_, {})); }, subject);
  if (active_.empty()) begin_next();  // else another one has begun
}

void Trial::judge(const Unchanged&, std::vector<HeldError> errors) {
  if (candidate_.biases == Biases::kOfFew) {
    measured_ = std::move(errors);
    return;
  }
  if (!contest_->may_lead(errors)) {
    contest_->take(choices_, std::move(errors), seen_);
    waiting_.clear();
    return;
  }
  if (!contest_->is_compared()) contest_->begin(errors);
  best_ = std::move(errors);
  const double decibels = std::min(pooled_decibels(best_), median_decibels(best_));
  if (tries_float_constants(*job_, contest_->word()) && (prefers_accuracy() || decibels < kGoodEnough))
    constants_.emplace(stored_constants(*draft_, *candidate_job_), prefers_accuracy());
}

/// What was tried so far had its biases corrected by statistics alone, and nearest integers for weights.
void Trial::judge(const Measured&, std::vector<HeldError> errors) {
  calibrate::TriedChange row = compared(kAnalytic, errors, best_);
  // Without measured biases the weights are not rounded either, so that has to be worth it too.
  if (row.taken && !candidate_.rounds && job_->settings.config.effort > 0 &&
      begin({Measured{}, choices_, Biases::kAsTheSettings, true}))
    return;
  if (row.taken)
    choices_.changes.push_back(row.change);
  else
    best_ = std::move(errors);
  choices_.tried.push_back(std::move(row));
}

void Trial::judge(const Correction& correction, std::vector<HeldError> errors) {
  calibrate::TriedChange row = judged(errors);
  const bool of_few = candidate_.biases == Biases::kOfFew;
  if (row.taken && !of_few && !finishing_ && job_->settings.config.measures_bias()) {
    // Biases that statistics alone correct leave more of some changes than measured ones do: it has to gain with both.
    promised_ = std::move(errors);
    waiting_.push_back({correction, {}, Biases::kOfFew});
    if (measured_.empty()) waiting_.push_back({Unchanged{}, {}, Biases::kOfFew});
    return;
  }
  if (row.taken) {
    choices_.changes.push_back(row.change);
    if (of_few) measured_ = std::exchange(errors, std::move(promised_));
    best_ = std::move(errors);
  }
  choices_.tried.push_back(std::move(row));
}

void Trial::judge(const ConstantTrial::InFloat& constants, std::vector<HeldError> errors) {
  calibrate::TriedChange row;
  if (constants.stored.empty()) row = judged(errors);
  if (constants.is_last) {
    for (const std::string& name : constants.names) {
      row.change = "float " + name;
      choices_.tried.push_back(row);
    }
    if (row.taken) choices_.in_float = constants.names, best_ = std::move(errors);
  } else {
    constants_->take(constants, std::move(errors), row.taken);
  }
}

void Trial::finish() {
  contest_ = nullptr;
  if (tries_) {
    const HeldFigures held = figures_of(best_);
    choices_.sqnr_db = rounded_decibels(held.sqnr_db);
    choices_.median_sqnr_db = rounded_decibels(held.median_sqnr_db);
    if (held.range)
      choices_.low_db = rounded_decibels(held.range->lower), choices_.high_db = rounded_decibels(held.range->upper);
  }
  round_ = Round::kDone;
  active_.clear();
  program_ = nullptr;
  step_program_ = {};
  draft_.reset();
  candidate_job_ = nullptr;
  sweep_ = nullptr;
  seen_ = {};
  ranges_ = nullptr;
}

}  // namespace tersor
