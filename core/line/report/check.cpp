// SPDX-License-Identifier: Apache-2.0
#include "core/report/check.h"

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/names.h"

namespace tersor::report {

namespace {

constexpr double kRounding = 1e-9;  // of a percentage that is a quotient of counts

std::string fixed(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

CheckRow answers_row(std::string what, int64_t in_float, int64_t quantized, int64_t count,
                     const std::optional<double>& limit) {
  const auto percent = [&](int64_t of) { return 100.0 * static_cast<double>(of) / static_cast<double>(count); };
  CheckRow row{std::move(what), percent(in_float), percent(quantized), "%", percent(in_float - quantized), limit};
  row.passed = !limit || *row.lost <= *limit + kRounding;
  return row;
}

void add_answers(const Report& report, const CheckLimits& limits, Check& check) {
  if (const auto& own = report.metric) {
    CheckRow row{own->metric,    100 * own->in_float, 100 * own->quantized, "%", 100 * (own->in_float - own->quantized),
                 limits.max_loss};
    row.passed = !limits.max_loss || *row.lost <= *limits.max_loss + kRounding;
    check.rows.push_back(std::move(row));
    return;
  }
  const auto &in_float = report.evaluation.in_float, &quantized = report.evaluation.quantized;
  if (in_float && quantized && in_float->correct && quantized->correct && quantized->count > 0) {
    check.rows.push_back(
        answers_row("right answers", *in_float->correct, *quantized->correct, quantized->count, limits.max_loss));
    return;
  }
  if (!report.comparison) return;
  for (const OutputComparison& output : report.comparison->outputs)
    if (output.kept && output.kept->count > 0)
      check.rows.push_back(answers_row("same answers of \"" + output.name + "\"", output.kept->count, output.kept->same,
                                       output.kept->count, limits.max_loss));
}

void add_sqnr(const Report& report, const CheckLimits& limits, Check& check) {
  if (!report.comparison) return;
  for (const OutputComparison& output : report.comparison->outputs) {
    CheckRow row{"SQNR of \"" + output.name + "\"", {}, output.sqnr_db, "dB", {}, limits.min_sqnr};
    // Without either figure a value is not finite, or the shape another; exact outputs have an error of 0.
    const bool is_exact = !output.sqnr_db && output.mse && *output.mse == 0;
    row.passed = !limits.min_sqnr || is_exact || (output.sqnr_db && *output.sqnr_db >= *limits.min_sqnr);
    check.rows.push_back(std::move(row));
  }
}

std::string escaped(const std::string& text) {
  std::string made;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      case '"':
        made += "&quot;";
        break;
      default:  // XML has no other control characters
        made += static_cast<unsigned char>(letter) < 0x20 && letter != '\t' && letter != '\n' ? '?' : letter;
    }
  }
  return made;
}

std::string failure_of(const CheckRow& row) {
  char limit[32];
  std::snprintf(limit, sizeof limit, "%g", *row.limit);
  if (row.lost)
    return row.what + ": " + fixed(*row.lost) + " points lost, at most " + limit + (*row.limit == 1 ? " is" : " are") +
           " allowed";
  return row.what + ": " + (row.quantized ? fixed(*row.quantized) + " dB" : "no finite figure") + ", at least " +
         limit + " dB is asked for";
}

}  // namespace

Check check_of(const Report& report, const CheckLimits& limits) {
  if (!limits.max_loss && !limits.min_sqnr)
    throw Error(ErrorCode::kInvalidArgument, "There is no limit to judge by.", "max_loss",
                "Say how many points of accuracy may be lost, or which SQNR is needed (min_sqnr).");
  Check check;
  check.samples = report.samples.evaluation;
  check.held_aside = report.samples.held_aside.value_or(false);
  add_answers(report, limits, check);
  if (limits.max_loss && !limits.min_sqnr && check.rows.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "There are no answers to lose: the samples have no labels, and the outputs are values.", "max_loss",
                "Give labels, say what the outputs hold (output_roles), or ask for an SQNR (min_sqnr).");
  add_sqnr(report, limits, check);
  check.passed = std::all_of(check.rows.begin(), check.rows.end(), [](const CheckRow& row) { return row.passed; });
  return check;
}

std::vector<std::string> failures_of(const Check& check) {
  std::vector<std::string> failures;
  for (const CheckRow& row : check.rows)
    if (!row.passed) failures.push_back(failure_of(row));
  return failures;
}

std::string junit_xml(const Check& check, const std::string& name) {
  size_t tests = 0, failed = 0;
  std::string cases;
  for (const CheckRow& row : check.rows) {
    if (!row.limit) continue;
    ++tests;
    failed += row.passed ? 0 : 1;
    cases += "    <testcase classname=\"tersor.check\" name=\"" + escaped(row.what) + "\"";
    cases +=
        row.passed ? "/>\n" : ">\n      <failure message=\"" + escaped(failure_of(row)) + "\"/>\n    </testcase>\n";
  }
  const std::string counts = "tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failed) + "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts + ">\n  <testsuite name=\"" +
         escaped(name) + "\" " + counts + ">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace tersor::report
