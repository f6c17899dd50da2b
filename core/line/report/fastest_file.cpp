// SPDX-License-Identifier: Apache-2.0
#include "core/report/fastest_file.h"

#include <algorithm>

#include "core/base/number_text.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/names.h"

namespace tersor::report {

namespace {

constexpr double kUsable = 20, kGood = 30, kAsGood = 1;
constexpr double kSurelyFaster = 1.03;
/// Digits of a SHA-256.
constexpr size_t kDigest = 64;

bool is_as_accurate(const FileToTime& one, const FileToTime& asked) {
  if (!one.decibels || !asked.decibels) return false;
  if (*one.decibels < std::min(kUsable, *asked.decibels)) return false;
  return asked.word == config::Preference::kSpeed || *one.decibels >= kGood ||
         *one.decibels >= *asked.decibels - kAsGood;
}

std::string sentence_of(const TimeForecast& time) {
  std::string others;
  for (const TimedFile& one : time.timed)
    if (!one.taken) others += (others.empty() ? "" : ", ") + one.prefer + " " + formatted("%.3g ms", one.milliseconds);
  return "It runs " + formatted("%.2f", time.times_as_fast) + " times as fast as the float model in " + time.runtime +
         " (" + time.machine + "): " + formatted("%.3g ms", time.quantized_ms) + " in place of " +
         formatted("%.3g ms", time.float_ms) + ". " +
         (others.empty() ? "There was no other file to choose." : "Of prefer, timed beside it: " + others + ".");
}

}  // namespace

std::vector<config::Preference> words_to_time(const config::QuantizationConfig& config) {
  using P = config::Preference;
  if (!config.holdout || (config.prefer != P::kBalanced && config.prefer != P::kSpeed)) return {config.prefer};
  return {config.prefer, config.prefer == P::kSpeed ? P::kBalanced : P::kSpeed, P::kIntegers};
}

bool are_same_file(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  const auto first = std::mismatch(a.begin(), a.end(), b.begin()).first;
  const auto last = std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first;
  return first == a.end() || last.base() - first <= static_cast<std::ptrdiff_t>(kDigest);
}

RuntimeTimes read_times(std::string_view json) {
  RuntimeTimes times;
  try {
    from_json(parse_json(json, "measure"), times, "measure");
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidArgument, error.message, error.place,
                "Give {runtime, threads, milliseconds}, the last a list with a time of each file.");
  }
  return times;
}

FileToTime file_to_time(config::Preference word, const calibrate::Choices& choices) {
  if (choices.held == 0) return {word, std::nullopt};
  return {word, std::min(choices.sqnr_db, choices.median_sqnr_db)};
}

FastestFile fastest_file(std::span<const FileToTime> files, const RuntimeTimes& times) {
  const auto& all = times.milliseconds;
  if (all.size() != files.size() + 1 ||
      std::any_of(all.begin(), all.end(), [](double one) { return !(one > 0 && one < 1e12); }))
    throw Error(ErrorCode::kInvalidArgument,
                "A time above 0 is expected of the float model and of " + std::to_string(files.size()) +
                    (files.size() == 1 ? " file" : " files") + ", in milliseconds.",
                "measure.milliseconds");
  FastestFile fastest;
  for (size_t k = 1; k < files.size(); ++k)
    if (is_as_accurate(files[k], files[0]) && all[1 + k] * kSurelyFaster < all[1] &&
        all[1 + k] < all[1 + fastest.taken])
      fastest.taken = k;
  TimeForecast& time = fastest.time;
  time.float_ms = all[0], time.quantized_ms = all[1 + fastest.taken];
  time.times_as_fast = time.float_ms / time.quantized_ms;
  time.runtime = times.runtime;
  time.machine = "measured, " + (times.threads == 1 ? "one thread" : std::to_string(times.threads) + " threads");
  time.measured = true;
  for (size_t k = 0; k < files.size(); ++k)
    time.timed.push_back({std::string(enum_word(files[k].word)), all[1 + k], files[k].decibels, k == fastest.taken});
  time.sentence = sentence_of(time);
  return fastest;
}

}  // namespace tersor::report
