// SPDX-License-Identifier: Apache-2.0
#include "core/native/make_report.h"

#include <algorithm>
#include <set>

#include "core/native/compare_samples.h"
#include "core/report/histogram_view.h"
#include "core/report/saturation_remark.h"
#include "core/report_of.h"
#include "core/samples/sample_digest.h"
#include "core/samples/selection.h"

namespace tersor {

namespace {

/// Samples to compare on, and whether calibration has seen none of them.
struct Compared {
  std::vector<int64_t> samples;
  bool held_aside = false;
};

/// By their numbers: those held aside from calibration where there are any.
Compared compared_by_number(const samples::DataSet& data, const calibrate::Statistics& statistics) {
  std::vector<int64_t> calibrated;
  for (const calibrate::SampleRecord& record : statistics.samples)
    calibrated.push_back(static_cast<int64_t>(record.index));
  const std::vector<int64_t> chosen = samples::for_evaluation(data.size(), calibrated, kComparedSamples);
  const bool held_aside = !chosen.empty() && !std::binary_search(calibrated.begin(), calibrated.end(), chosen[0]);
  return {chosen, held_aside};
}

/// Numbers mean nothing where the samples are not those of the statistics; their digests tell.
Compared compared_by_digest(const std::shared_ptr<const samples::DataSet>& data,
                            const calibrate::Statistics& statistics) {
  std::set<std::string> calibrated;
  for (const calibrate::SampleRecord& record : statistics.samples) calibrated.insert(record.digest);
  Compared by_number = compared_by_number(*data, statistics), unseen{{}, true};
  samples::SampleReader reader(data);
  for (const int64_t sample : by_number.samples)
    if (calibrated.count(samples::sample_digest(reader.load(sample))) == 0) unseen.samples.push_back(sample);
  if (!unseen.samples.empty()) return unseen;
  by_number.held_aside = false;
  return by_number;
}

}  // namespace

report::Report make_report(const ReportRequest& request, const std::string& model_name, size_t model_bytes,
                           const Job& job, const QuantizeResult& result, const calibrate::Statistics& statistics,
                           const std::shared_ptr<const samples::DataSet>& data) {
  report::Report report = report_of(job, result, model_name, static_cast<int64_t>(model_bytes));
  report.runtime = request.runtime;
  if (data) {
    const auto profile = enum_from_word<simulate::Profile>(request.runtime, "runtime");
    const auto [chosen, held_aside] =
        request.foreign ? compared_by_digest(data, statistics) : compared_by_number(*data, statistics);
    report.samples.held_aside = held_aside;
    report.comparison =
        compare_samples(report::CompareProgram::make(job.opened->model, result.model, profile, request.classes), data,
                        chosen, request.workforce);
    report::add_histograms(*report.comparison, statistics);
    if (const auto remark =
            report::saturation_remark(report.comparison->saturation, profile == simulate::Profile::kAvx2))
      report.diagnostics.push_back(*remark);
    report.samples.evaluation = static_cast<int64_t>(chosen.size());
  }
  if (data && data->is_guess())
    report.diagnostics.push_back(
        {std::string(report::kGuessedPreprocessing),
         "How pictures become tensors is a guess (\"" + std::string(data->guess()) +
             "\"): where the model was trained with other numbers, these figures say nothing about its task.",
         "preprocessing", "Give --preprocessing, or samples in class folders, by which it is found."});
  if (report.comparison) report.verdict = report::verdict_of(report);
  return report;
}

}  // namespace tersor
