// SPDX-License-Identifier: Apache-2.0
// The switch `measure`: files for several words of `prefer` are made, the caller times them in the runtime, and the
// fastest that is as accurate is taken. Its recipe has its word, which repeats it without measuring.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/calibrate/choices.h"
#include "core/config/quantization_config.h"
#include "core/report/time_forecast.h"

namespace tersor::report {

/// The words whose files are timed, the one that was asked for first. That one alone for SIZE, ACCURACY and INTEGERS,
/// which do not ask for time, and where no samples are held out to tell errors apart.
std::vector<config::Preference> words_to_time(const config::QuantizationConfig& config);

/// True if the files are equal but for the digest of their recipes.
bool are_same_file(std::span<const std::byte> a, std::span<const std::byte> b);

/// What files took in a runtime: the float model, then each file.
struct RuntimeTimes {
  std::string runtime;  // with its version
  int threads = 1;
  std::vector<double> milliseconds;  // of a run

  static constexpr auto fields() {
    return std::make_tuple(field("runtime", &RuntimeTimes::runtime, "The runtime and its version."),
                           field("threads", &RuntimeTimes::threads, "Threads that it ran with."),
                           field("milliseconds", &RuntimeTimes::milliseconds, "Of a run of each file."));
  }
};

/// From JSON. Error kInvalidArgument.
RuntimeTimes read_times(std::string_view json);

/// A file to choose from.
struct FileToTime {
  config::Preference word = config::Preference::kBalanced;
  std::optional<double> decibels = {};  // on held samples

  static constexpr auto fields() {
    return std::make_tuple(field("word", &FileToTime::word, "The word of `prefer` that it was made for."),
                           field("decibels", &FileToTime::decibels, "SQNR on the held samples; null without any."));
  }
};
/// `choices`: of the trials that it was made with.
FileToTime file_to_time(config::Preference word, const calibrate::Choices& choices);

struct FastestFile {
  size_t taken = 0;
  TimeForecast time;

  static constexpr auto fields() {
    return std::make_tuple(field("taken", &FastestFile::taken, "Index of the file."),
                           field("time", &FastestFile::time, "What was measured."));
  }
};

/// The fastest of `files` that are as accurate as the first, which is the one that was asked for: usable, as the
/// contest of `prefer` has it (core/trial/contest.h: 20 dB, or no worse than the first). For BALANCED also good (30 dB)
/// or at most 1 dB worse. The first stays unless another is faster by 3 %, which two runs of one file may differ by.
/// Error kInvalidArgument unless there is a time above 0 of the float model and of each file.
FastestFile fastest_file(std::span<const FileToTime> files, const RuntimeTimes& times);

}  // namespace tersor::report
