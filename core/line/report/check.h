// SPDX-License-Identifier: Apache-2.0
// Whether a quantized model keeps to limits: for machines that judge every change of a model.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/report/report.h"

namespace tersor::report {

struct CheckLimits {
  std::optional<double> max_loss;  // in percentage points
  std::optional<double> min_sqnr;  // in dB
};

/// One thing that was judged.
struct CheckRow {
  std::string what;
  std::optional<double> in_float;
  std::optional<double> quantized;
  std::string unit;
  std::optional<double> lost;
  std::optional<double> limit;
  bool passed = true;

  static constexpr auto fields() {
    return std::make_tuple(
        field("what", &CheckRow::what, "What was judged: right answers, same answers of an output, or its SQNR."),
        field("float", &CheckRow::in_float, "The float model's figure; null where it is the measure itself."),
        field("quantized", &CheckRow::quantized, "The quantized model's figure; null for an SQNR that is exact."),
        field("unit", &CheckRow::unit, "% or dB."),
        field("lost", &CheckRow::lost, "Percentage points less than the float model; null for an SQNR."),
        field("limit", &CheckRow::limit, "The most that may be lost, or the least SQNR; null where none was given."),
        field("passed", &CheckRow::passed, "It keeps to its limit, or has none."));
  }
};

struct Check {
  std::vector<CheckRow> rows;
  int64_t samples = 0;
  bool held_aside = false;
  bool passed = true;

  static constexpr auto fields() {
    return std::make_tuple(field("rows", &Check::rows, "What was judged, in turn."),
                           field("samples", &Check::samples, "Samples judged on."),
                           field("held_aside", &Check::held_aside, "Calibration has seen none of them."),
                           field("passed", &Check::passed, "Every row keeps to its limit."));
  }
};

/// Judges what a report holds. `max_loss` is for hundredths of the caller's own metric where there is one, else for
/// right answers where labels were counted, else for the answers that each output with answers has as the float model;
/// `min_sqnr` is for every output. Both bounds count as kept. Error kInvalidArgument where there is nothing to judge
/// by: no limit, or `max_loss` alone without labels on outputs without answers.
Check check_of(const Report& report, const CheckLimits& limits);

/// The rows with a limit as test cases, in the form that CI systems read as JUnit XML. `name`: of the suite.
std::string junit_xml(const Check& check, const std::string& name);

/// "right answers: 1.30 points lost, at most 1 are allowed" of each row that fails.
std::vector<std::string> failures_of(const Check& check);

}  // namespace tersor::report
