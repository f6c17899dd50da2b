// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/fields.h"
#include "core/graph/graph.h"
#include "core/tpc/price_list.h"

namespace tersor::report {

/// The expected speed on another processor.
struct TimeElsewhere {
  double times_as_fast = 1;
  std::string runtime;
  std::string machine;

  static constexpr auto fields() {
    return std::make_tuple(field("times_as_fast", &TimeElsewhere::times_as_fast, "As the float model there."),
                           field("runtime", &TimeElsewhere::runtime, "The runtime whose operators were timed."),
                           field("machine", &TimeElsewhere::machine, "The machine that they were timed on."));
  }
};

/// A file that was timed, for another word of `prefer` or the same.
struct TimedFile {
  std::string prefer;
  double milliseconds = 0;
  std::optional<double> sqnr_db = {};
  bool taken = false;

  static constexpr auto fields() {
    return std::make_tuple(
        field("prefer", &TimedFile::prefer, "The word of `prefer` that it was made for."),
        field("milliseconds", &TimedFile::milliseconds, "What a run took."),
        field("sqnr_db", &TimedFile::sqnr_db, "SQNR on the held samples, in dB; null where none were held aside."),
        field("taken", &TimedFile::taken, "The file is this one."));
  }
};

/// The time that the runtime is expected to take for a sample, by the prices of the platform (docs/report.md), or that
/// it took where the file was made (core/report/fastest_file.h).
struct TimeForecast {
  double float_ms = 0;
  double quantized_ms = 0;
  double times_as_fast = 1;
  std::string runtime;
  std::string machine;
  std::vector<TimeElsewhere> elsewhere;
  bool measured = false;
  std::vector<TimedFile> timed;
  std::string sentence;

  static constexpr auto fields() {
    return std::make_tuple(
        field("float_ms", &TimeForecast::float_ms, "Milliseconds that the float model is expected to take."),
        field("quantized_ms", &TimeForecast::quantized_ms,
              "Milliseconds that the quantized model is expected to take."),
        field("times_as_fast", &TimeForecast::times_as_fast, "The former divided by the latter."),
        field("runtime", &TimeForecast::runtime, "The runtime whose operators were timed."),
        field("machine", &TimeForecast::machine, "The machine that they were timed on."),
        field("elsewhere", &TimeForecast::elsewhere, "The same by each other list of prices of the platform."),
        field("measured", &TimeForecast::measured,
              "Both files were timed in the runtime where this was made: it is no forecast."),
        field("timed", &TimeForecast::timed,
              "The files that were timed, of which one was taken; empty where none were."),
        field("sentence", &TimeForecast::sentence, "The same for a person."));
  }
};

/// True if the quantized model is faster on at least one processor by more than the uncertainty of forecasts and
/// measurements.
bool is_faster(const TimeForecast& forecast);

/// The time by the first of the lists, and the speed by each of the others, without lists that lack prices of what the
/// model mostly does. Returns nothing if no list is left or if shapes depend on the samples.
std::optional<TimeForecast> forecast_time(const Model& in_float, const Model& quantized,
                                          const std::vector<const tpc::PriceList*>& prices);

/// Says which operators have no price, if that is so in all of the lists and there is one. Of the quantized file they
/// are operators of the float model.
std::optional<Diagnostic> unknown_time(const Model& in_float, const std::vector<const tpc::PriceList*>& prices);

}  // namespace tersor::report
