// SPDX-License-Identifier: Apache-2.0
#include "core/report/time_forecast.h"

#include <algorithm>

#include "core/base/number_text.h"
#include "core/base/names.h"
#include "core/cost/expected_time.h"

namespace tersor::report {

namespace {

constexpr double kFaster = 1.05;
/// A run that short is mostly the runtime's own work for each node.
constexpr double kShortMilliseconds = 0.1;

std::string place(const std::string& runtime, const std::string& machine) {
  return runtime + " (" + machine + ")";
}

std::string sentence_of(const TimeForecast& forecast) {
  const std::string where = " in " + place(forecast.runtime, forecast.machine);
  std::string elsewhere;
  for (const TimeElsewhere& one : forecast.elsewhere)
    elsewhere += ", " + formatted("%.1f", one.times_as_fast) + " times in " + place(one.runtime, one.machine);
  if (is_faster(forecast))
    return "It is expected to run about " + formatted("%.1f", forecast.times_as_fast) +
           " times as fast as the float model" + where + elsewhere + ".";
  const std::string why = forecast.float_ms < kShortMilliseconds
                              ? "The model is so small that a run is mostly the runtime's own work for each operator."
                              : "Quantizers and changes of layout take what the integer kernels save.";
  return "It is not expected to run faster than the float model" + where + ": about " +
         formatted("%.1f", forecast.times_as_fast) + " times as fast" + elsewhere + ". " + why;
}

}  // namespace

bool is_faster(const TimeForecast& forecast) {
  return forecast.times_as_fast >= kFaster ||
         std::any_of(forecast.elsewhere.begin(), forecast.elsewhere.end(),
                     [](const TimeElsewhere& one) { return one.times_as_fast >= kFaster; });
}

std::optional<TimeForecast> forecast_time(const Model& in_float, const Model& quantized,
                                          const std::vector<const tpc::PriceList*>& prices) {
  std::optional<TimeForecast> forecast;
  for (const tpc::PriceList* list : prices) {
    if (!cost::unpriced_operators(in_float, *list).empty()) continue;
    const auto before = cost::expected_milliseconds(in_float, *list);
    const auto after = cost::expected_milliseconds(quantized, *list);
    if (!before || !after) return std::nullopt;
    if (forecast)
      forecast->elsewhere.push_back({*before / *after, list->runtime, list->machine});
    else
      forecast = TimeForecast{*before, *after, *before / *after, list->runtime, list->machine, {}, false, {}, {}};
  }
  if (forecast) forecast->sentence = sentence_of(*forecast);
  return forecast;
}

std::optional<Diagnostic> unknown_time(const Model& in_float, const std::vector<const tpc::PriceList*>& prices) {
  std::string operators;
  for (const tpc::PriceList* list : prices) {
    const auto unpriced = cost::unpriced_operators(in_float, *list);
    if (unpriced.empty()) return std::nullopt;
    operators = joined(unpriced);
  }
  if (operators.empty()) return std::nullopt;
  return Diagnostic{"time_unknown",
                    "How fast the file runs is not known: of " + operators + " no time has been measured.", "time",
                    "Time the float and the quantized file in the runtime that you use."};
}

}  // namespace tersor::report
