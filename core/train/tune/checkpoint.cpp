// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/base/byte_stream.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/tune/tuner_state.h"

namespace tersor::tune {

namespace {

constexpr std::string_view kMagic = "tersortc";
constexpr uint32_t kVersion = 4;

[[noreturn]] void refuse(const char* message, const char* hint) {
  throw Error(ErrorCode::kInvalidArgument, message, "checkpoint", hint);
}
[[noreturn]] void broken() {
  refuse("This is no whole checkpoint of a training.",
         "Give a file that a training wrote as its checkpoint; it may have been cut short while it was copied.");
}

/// Values in the place of as many.
template <class T>
void replace(ByteReader& from, std::vector<T>& values) {
  std::vector<T> found = from.get_all<T>();
  if (found.size() != values.size()) broken();
  values = std::move(found);
}

/// The numbers of what judgements came to, which are there with labels alone, and 0 where they are absent.
template <class T>
void put_or_zero(ByteWriter& to, const std::optional<T>& value) {
  to.put(value.value_or(0));
}
template <class T>
std::optional<T> get_where(ByteReader& from, bool is_there) {
  const T value = from.get<T>();
  return is_there ? std::optional<T>(value) : std::nullopt;
}

/// What stands behind the magic and the version, in front of the digest of all.
ByteReader content_of(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  for (const char letter : kMagic)
    if (from.get<char>() != letter) broken();
  if (from.get<uint32_t>() != kVersion)
    refuse("This checkpoint is of another version of this program.",
           "Go on with the version that wrote it, or train from the beginning.");
  const size_t size = bytes.size() < sizeof(Digest) ? 0 : bytes.size() - sizeof(Digest);
  const Digest digest = sha256(bytes.first(size));
  if (size == 0 || !std::equal(digest.begin(), digest.end(), bytes.begin() + static_cast<std::ptrdiff_t>(size)))
    broken();
  constexpr size_t kHead = kMagic.size() + sizeof(kVersion);
  return ByteReader(bytes.subspan(kHead, size - kHead));
}

/// What a training is of has its number of steps in the schedule, and not where it was stopped.
std::string settings_of(config::GradientPTQConfig config) {
  config.most_steps.reset();
  return to_text(tersor::to_json(config), false);
}

/// The fields in which the settings differ, with both values, as a sentence; empty where none does.
std::string difference(const std::string& written, const std::string& now) {
  const Json before = parse_json(written, "checkpoint"), after = parse_json(now, "checkpoint");
  std::string names;
  for (const auto& [name, value] : after.items()) {
    const auto found = before.find(name);
    if (found == before.end() || *found == value) continue;
    names += (names.empty() ? "" : ", ") + name + " " + to_text(*found, false) + " there and " + to_text(value, false) +
             " here";
  }
  return names;
}

/// Reads as `read` does; what is cut short is no whole checkpoint.
template <class Read>
auto reading(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code == ErrorCode::kInvalidArgument && error.place != "checkpoint") broken();
    throw;
  }
}

}  // namespace

int epochs_of_checkpoint(std::span<const std::byte> bytes) {
  return reading([&] {
    ByteReader from = content_of(bytes);
    config::GradientPTQConfig config;
    config::from_json(parse_json(from.get<std::string>(), "checkpoint"), config, "checkpoint");
    return config.n_epochs;
  });
}

ByteBuffer Tuner::checkpoint() const {
  const State& s = *state_;
  ByteWriter to;
  for (const char letter : kMagic) to.put(letter);
  to.put(kVersion);
  to.put(settings_of(s.config));
  to.put(s.key);
  to.put(s.diverged);
  const State::Found found = s.scheduled_found();
  for (const int64_t one : {s.step, found.judged_at, static_cast<int64_t>(s.round == State::Round::kWeigh),
                            static_cast<int64_t>(s.is_judged), static_cast<int64_t>(found.best.has_value())})
    to.put(one);
  for (const double one :
       {s.loss, s.epoch_loss, found.best_db, s.tuning.before_db, s.tuning.first_loss, s.tuning.last_loss})
    to.put(one);
  for (const auto& one : {s.tuning.before_cross_entropy, found.cross_entropy}) put_or_zero(to, one);
  to.put(static_cast<int64_t>(s.are_answers));
  for (const auto& one : {s.tuning.before_right, found.right, s.before_same}) put_or_zero(to, one);
  to.put(s.factors);
  for (size_t k = 0; k < s.student.trained.size(); ++k) {
    to.put(s.values_of[k]);
    to.put(s.weights[k].latent);
    to.put(s.weights[k].factors);
    to.put(s.weights[k].of_factors.first());
    to.put(s.weights[k].of_factors.second());
    if (s.weights[k].quantizer)
      for (const trainable::Variable& variable : s.weights[k].quantizer->variables()) to.put(variable.value);
    if (s.weights[k].own) s.weights[k].own->write(to);
    to.put(s.adam[k].first());
    to.put(s.adam[k].second());
    to.put(s.sgd[k].velocity());
  }
  if (found.best) to.put(*found.best);
  ByteBuffer bytes = to.take();
  const Digest digest = sha256(std::span(bytes.data(), bytes.size()));
  std::copy(digest.begin(), digest.end(), bytes.more(digest.size()));
  return bytes;
}

void Tuner::restore(std::span<const std::byte> bytes) {
  reading([&] { state_->restore(bytes); });
}

void Tuner::State::restore(std::span<const std::byte> bytes) {
  ByteReader from = content_of(bytes);
  const std::string settings = from.get<std::string>();
  if (from.get<std::string>() != key) {
    const std::string differ = difference(settings, settings_of(config));
    throw Error(ErrorCode::kMismatch,
                differ.empty() ? "The checkpoint is of another training: the model, the samples, the labels, the "
                                 "platform or a setting of quantization differ."
                               : "The checkpoint is of another training: gradient_ptq_config has " + differ + ".",
                "checkpoint", "Give the model, the samples and the settings that it was written with.");
  }
  diverged = from.get<std::string>();
  step = from.get<int64_t>();
  judged_at = from.get<int64_t>();
  const bool is_weighing = from.get<int64_t>() != 0;
  is_judged = from.get<int64_t>() != 0;
  const bool has_best = from.get<int64_t>() != 0;
  for (double* one : {&loss, &epoch_loss, &best_db, &tuning.before_db, &tuning.first_loss, &tuning.last_loss})
    *one = from.get<double>();
  for (auto* one : {&tuning.before_cross_entropy, &tuning.after_cross_entropy})
    *one = get_where<double>(from, has_labels() && is_judged);
  are_answers = from.get<int64_t>() != 0;
  for (auto* one : {&tuning.before_right, &tuning.after_right})
    *one = get_where<int64_t>(from, are_answers && !labels.empty() && is_judged);
  before_same = get_where<int64_t>(from, are_answers && is_judged);
  last = {best_db, tuning.after_right, {}};
  replace(from, factors);
  for (size_t k = 0; k < student.trained.size(); ++k) {
    replace(from, values_of[k]);
    replace(from, weights[k].latent);
    replace(from, weights[k].factors);
    for (auto* moments : {&weights[k].of_factors.first(), &weights[k].of_factors.second()}) replace(from, *moments);
    if (weights[k].quantizer)
      for (trainable::Variable& variable : weights[k].quantizer->variables()) replace(from, variable.value);
    if (weights[k].own && !weights[k].own->read(from)) broken();
    for (auto* moments : {&adam[k].first(), &adam[k].second(), &sgd[k].velocity()}) replace(from, *moments);
  }
  if (has_best) best = from.get<Best>();
  if (!from.at_end()) broken();
  shuffled_for = -1;
  before_stop.reset();
  if (is_weighing) return begin_weighing();
  if (!is_judged || awaits_judgement()) return begin_judging();
  next();
}

}  // namespace tersor::tune
