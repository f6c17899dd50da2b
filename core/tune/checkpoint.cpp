// SPDX-License-Identifier: Apache-2.0
#include "core/base/byte_stream.h"
#include "core/base/error.h"
#include "core/tune/tuner_state.h"

namespace tersor::tune {

namespace {

constexpr std::string_view kMagic = "tersortc";
constexpr uint32_t kVersion = 2;

[[noreturn]] void broken() {
  throw Error(ErrorCode::kInvalidArgument, "This is no whole checkpoint of a training.", "checkpoint",
              "Give the file that --checkpoint wrote; it may have been cut short while it was copied.");
}

template <class List>
void put(ByteWriter& to, const List& list) {
  to.put_all(std::span<const typename List::value_type>(list));
}
/// How many entries of a list follow, each of some bytes.
size_t count_of(ByteReader& from) {
  constexpr uint64_t kMost = 1 << 20;
  const auto count = from.get<uint64_t>();
  if (count > kMost) broken();
  return static_cast<size_t>(count);
}
std::string text_of(ByteReader& from) {
  const std::vector<char> letters = from.get_all<char>();
  return {letters.begin(), letters.end()};
}
/// Values in the place of as many.
template <class T>
void replace(ByteReader& from, std::vector<T>& values) {
  std::vector<T> found = from.get_all<T>();
  if (found.size() != values.size()) broken();
  values = std::move(found);
}

}  // namespace

ByteBuffer Tuner::checkpoint() const {
  const State& s = *state_;
  ByteWriter to;
  for (const char letter : kMagic) to.put(letter);
  to.put(kVersion);
  put(to, s.key);
  for (const int64_t one : {s.step, static_cast<int64_t>(s.round == State::Round::kDone),
                            static_cast<int64_t>(s.is_judged), static_cast<int64_t>(s.best.has_value())})
    to.put(one);
  for (const double one :
       {s.loss, s.epoch_loss, s.best_db, s.tuning.before_db, s.tuning.first_loss, s.tuning.last_loss})
    to.put(one);
  for (const auto& one : {s.tuning.before_cross_entropy, s.tuning.after_cross_entropy}) to.put(one.value_or(0));
  for (const auto& one : {s.tuning.before_right, s.tuning.after_right}) to.put(one.value_or(0));
  put(to, s.factors);
  for (size_t k = 0; k < s.student.trained.size(); ++k) {
    put(to, s.values_of[k]);
    put(to, s.weights[k].latent);
    put(to, s.weights[k].factors);
    put(to, s.weights[k].of_factors.first());
    put(to, s.weights[k].of_factors.second());
    if (s.weights[k].quantizer)
      for (const trainable::Variable& variable : s.weights[k].quantizer->variables()) put(to, variable.value);
    put(to, s.adam[k].first());
    put(to, s.adam[k].second());
    put(to, s.sgd[k].velocity());
  }
  if (!s.best) return to.take();
  to.put(static_cast<uint64_t>(s.best->weights.size()));
  for (const calibrate::RoundedWeight& one : s.best->weights) {
    put(to, one.name);
    put(to, one.scales);
    put(to, one.codes);
  }
  to.put(static_cast<uint64_t>(s.best->biases.size()));
  for (const calibrate::MeasuredShift& one : s.best->biases) {
    put(to, one.name);
    put(to, one.shifts);
  }
  to.put(static_cast<uint64_t>(s.best->activations.size()));
  for (const calibrate::TunedActivation& one : s.best->activations) {
    put(to, one.name);
    to.put(one.scale);
    to.put(one.zero_point);
  }
  return to.take();
}

void Tuner::restore(std::span<const std::byte> bytes) {
  try {
    state_->restore(bytes);
  } catch (const Error& error) {
    if (error.code == ErrorCode::kInvalidArgument) broken();
    throw;
  }
}

void Tuner::State::restore(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  for (const char letter : kMagic)
    if (from.get<char>() != letter) broken();
  if (from.get<uint32_t>() != kVersion) broken();
  if (text_of(from) != key)
    throw Error(ErrorCode::kMismatch,
                "The checkpoint is of another training: model, samples, settings or calibration differ.", "checkpoint",
                "Give the model, the samples and the settings that it was written with.");
  step = from.get<int64_t>();
  const bool is_done = from.get<int64_t>() != 0;
  is_judged = from.get<int64_t>() != 0;
  const bool has_best = from.get<int64_t>() != 0;
  for (double* one : {&loss, &epoch_loss, &best_db, &tuning.before_db, &tuning.first_loss, &tuning.last_loss})
    *one = from.get<double>();
  for (auto* one : {&tuning.before_cross_entropy, &tuning.after_cross_entropy}) {
    const auto value = from.get<double>();
    if (has_labels() && is_judged) *one = value;
  }
  for (auto* one : {&tuning.before_right, &tuning.after_right}) {
    const auto value = from.get<int64_t>();
    if (has_labels() && is_judged) *one = value;
  }
  replace(from, factors);
  for (size_t k = 0; k < student.trained.size(); ++k) {
    replace(from, values_of[k]);
    replace(from, weights[k].latent);
    replace(from, weights[k].factors);
    for (auto* moments : {&weights[k].of_factors.first(), &weights[k].of_factors.second()}) replace(from, *moments);
    if (weights[k].quantizer)
      for (trainable::Variable& variable : weights[k].quantizer->variables()) replace(from, variable.value);
    for (auto* moments : {&adam[k].first(), &adam[k].second(), &sgd[k].velocity()}) replace(from, *moments);
  }
  if (has_best) {
    best.emplace();
    best->weights.resize(count_of(from));
    for (calibrate::RoundedWeight& one : best->weights) {
      one.name = text_of(from);
      one.scales = from.get_all<float>();
      one.codes = from.get_all<int8_t>();
    }
    best->biases.resize(count_of(from));
    for (calibrate::MeasuredShift& one : best->biases) {
      one.name = text_of(from);
      one.shifts = from.get_all<double>();
    }
    best->activations.resize(count_of(from));
    for (calibrate::TunedActivation& one : best->activations) {
      one.name = text_of(from);
      one.scale = from.get<float>();
      one.zero_point = from.get<int32_t>();
    }
  }
  if (!from.at_end()) broken();
  shuffled_for = -1;
  if (!is_judged) return begin_judging();
  if (is_done && step >= last_step()) {
    round = Round::kDone;
    lanes.clear();
    return;
  }
  next();
}

}  // namespace tersor::tune
