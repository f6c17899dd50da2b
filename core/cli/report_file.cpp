// SPDX-License-Identifier: Apache-2.0
#include "core/cli/report_file.h"

#include <algorithm>
#include <cstdio>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/cli/compare_samples.h"
#include "core/cli/files.h"
#include "core/report/histogram_view.h"
#include "core/report/range_remarks.h"
#include "core/report/report.h"
#include "core/samples/selection.h"

namespace tersor::cli {

namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// Samples to compare on: those held aside from calibration where there are any.
std::vector<int64_t> compared_samples(const samples::DataSet& data, const calibrate::Statistics& statistics,
                                      bool& held_aside) {
  std::vector<int64_t> free;
  for (int64_t sample = 0; sample < data.size(); ++sample) {
    const auto used = [&](const calibrate::SampleRecord& record) {
      return static_cast<int64_t>(record.index) == sample;
    };
    if (std::none_of(statistics.samples.begin(), statistics.samples.end(), used)) free.push_back(sample);
  }
  held_aside = !free.empty();
  if (free.empty()) free = samples::spread_evenly(data.size(), data.size());
  std::vector<int64_t> chosen;
  const auto total = static_cast<int64_t>(free.size());
  for (int64_t place : samples::spread_evenly(total, std::min(total, kComparedSamples)))
    chosen.push_back(free[static_cast<size_t>(place)]);
  return chosen;
}

void print_verdict(const report::Verdict& verdict) {
  std::printf("%s: %s\n", std::string(enum_word(verdict.usability)).c_str(), verdict.reason.c_str());
  for (const std::string& cause : verdict.causes) std::printf("  %s\n", cause.c_str());
  for (const std::string& layer : verdict.worst_layers) std::printf("  much of the error: %s\n", layer.c_str());
}

}  // namespace

void write_report(const ReportRequest& request, const std::string& model_path, size_t model_bytes, const Job& job,
                  const QuantizeResult& result, const calibrate::Statistics& statistics,
                  const std::shared_ptr<const samples::DataSet>& data) {
  if (request.path.empty()) return;
  const Model& original = job.opened->model;
  report::Report report;
  report.tool_version = tool_version();
  report.model = {file_name(model_path), job.opened->digest, static_cast<int64_t>(model_bytes)};
  report.output = {"", sha256_hex(result.bytes), static_cast<int64_t>(result.bytes.size())};
  report.platform = {job.settings.platform.name, job.settings.platform.version};
  report.runtime = request.runtime;
  report.coverage =
      report::coverage_of(original.graph, job.model.graph, result.draft.kept, static_cast<int64_t>(model_bytes));
  report.coverage.estimated_size_bytes = report.output.size_bytes;
  report.coverage.calibration_bytes = calibration_bytes(job);
  report.ranges = report::ranges_of(result.draft.model.graph, result.plan, result.draft.statistics);
  report.padding = report::padding_of(result.draft.model.graph, result.draft.attachment, result.plan);
  report.samples.calibration = static_cast<int64_t>(statistics.samples.size());
  report.diagnostics =
      report::remarks_of(original.warnings, job.notes, result.draft.model.graph, result.plan, result.draft.statistics);
  if (data) {
    const auto profile = enum_from_word<simulate::Profile>(request.runtime, "--runtime");
    const std::vector<int64_t> chosen = compared_samples(*data, statistics, report.samples.held_aside);
    report.comparison =
        compare_samples(report::CompareProgram::make(original, result.model, profile), data, chosen, request.threads);
    report::add_histograms(*report.comparison, statistics);
    if (const auto remark = report::saturation_remark(*report.comparison)) report.diagnostics.push_back(*remark);
    report.samples.evaluation = static_cast<int64_t>(chosen.size());
  }
  report.corrections = report::corrections_of(job.passes, job.placement, result.draft.kept, result.draft.rewrites,
                                              result.draft.equalized, result.plan);
  for (report::Correction& one : report::left_out(job.settings.config)) report.corrections.push_back(std::move(one));
  if (report.comparison) report.verdict = report::verdict_of(report);
  write_file(request.path, to_text(to_json(report)) + "\n");
  if (report.verdict) print_verdict(*report.verdict);
}

}  // namespace tersor::cli
