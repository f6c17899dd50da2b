// SPDX-License-Identifier: Apache-2.0
#include "core/native/make_report.h"

#include <algorithm>
#include <set>

#include "core/native/compare_samples.h"
#include "core/native/evaluate_samples.h"
#include "core/native/own_figures.h"
#include "core/report/guess_remark.h"
#include "core/report/histogram_view.h"
#include "core/report/label_order_remark.h"
#include "core/report/report_of.h"
#include "core/report/saturation_remark.h"
#include "core/samples/sample_digest.h"
#include "core/samples/selection.h"
#include "core/simulate/program.h"

namespace tersor {

namespace {

/// Samples to compare on, and whether calibration has seen none of them.
struct Compared {
  std::vector<int64_t> samples;
  bool held_aside = false;
};

/// By their numbers: those held aside from calibration where there are any.
Compared compared_by_number(const samples::DataSet& data, const calibrate::Statistics& statistics, int64_t count) {
  std::vector<int64_t> calibrated;
  for (const calibrate::SampleRecord& record : statistics.samples)
    calibrated.push_back(static_cast<int64_t>(record.index));
  const std::vector<int64_t> chosen = samples::for_evaluation(data.size(), calibrated, count);
  const bool held_aside = !chosen.empty() && !std::binary_search(calibrated.begin(), calibrated.end(), chosen[0]);
  return {chosen, held_aside};
}

/// Numbers mean nothing where the samples are not those of the statistics; their digests tell.
Compared compared_by_digest(const std::shared_ptr<const samples::DataSet>& data,
                            const calibrate::Statistics& statistics, int64_t count) {
  std::set<std::string> calibrated;
  for (const calibrate::SampleRecord& record : statistics.samples) calibrated.insert(record.digest);
  Compared by_number = compared_by_number(*data, statistics, count), unseen{{}, true};
  samples::SampleReader reader(data);
  for (const int64_t sample : by_number.samples)
    if (calibrated.count(samples::sample_digest(reader.load(sample))) == 0) unseen.samples.push_back(sample);
  if (!unseen.samples.empty()) return unseen;
  by_number.held_aside = false;
  return by_number;
}

/// Error kInvalidLabels where the first output is more than a list of scores: its largest element is no answer.
void expect_scores(const run::Program& program) {
  const auto& shape = program.outputs().at(0).shape;
  if (!shape || shape->size() < 2) return;
  if (std::count_if(shape->begin() + 1, shape->end(), [](const Dim& axis) { return axis.value != 1; }) > 1)
    throw Error(ErrorCode::kInvalidLabels, "The first output is no list of scores, one for each class.");
}

/// Right answers of both models, or a remark why they are not counted: then the rest of the report stands.
void add_evaluation(const ReportRequest& request, simulate::Profile profile, const Job& job,
                    const QuantizeResult& result, const std::shared_ptr<const samples::DataSet>& data,
                    const std::vector<int64_t>& chosen, report::Report& report) {
  const auto evaluated = [&](const Model& model) {
    const auto program = simulate::compile(model, profile);
    expect_scores(*program);
    return evaluate_samples({program, nullptr}, data, request.labels, chosen, request.workforce).result;
  };
  try {
    auto in_float = evaluated(job.opened->model), quantized = evaluated(result.model);
    quantized.agreement = evaluate::agreement(in_float, quantized);
    if (auto remark = report::label_order_remark(in_float, *data, request.labels))
      report.diagnostics.push_back(std::move(*remark));
    report.evaluation = {std::move(in_float), std::move(quantized)};
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidLabels && error.code != ErrorCode::kInvalidArgument) throw;
    report.diagnostics.push_back({std::string(kLabelsNotCounted), "Right answers are not counted. " + error.message,
                                  "labels",
                                  error.hint.empty() ? "Leave the labels out for a model of this kind." : error.hint});
  }
}

/// What the metric of the settings says of both models.
report::OwnEvaluation own_evaluation(const ReportRequest& request, simulate::Profile profile, const Job& job,
                                     const QuantizeResult& result, const std::shared_ptr<const samples::DataSet>& data,
                                     const std::vector<int64_t>& chosen) {
  constexpr size_t kParts = 16;
  const evaluate::OwnMetric& metric = *job.settings.metric;
  const auto figures_of = [&](const Model& model) {
    return own_figures_of(metric, simulate::compile(model, profile), data, chosen, kParts, request.workforce);
  };
  const evaluate::OwnFigures exact = figures_of(job.opened->model), quantized = figures_of(result.model);
  return {metric.name, static_cast<int64_t>(chosen.size()), exact.all, quantized.all,
          evaluate::standard_error(exact, quantized)};
}

}  // namespace

report::Report make_report(const ReportRequest& request, const std::string& model_name, size_t model_bytes,
                           const Job& job, const QuantizeResult& result, const calibrate::Statistics& statistics,
                           const std::shared_ptr<const samples::DataSet>& data) {
  report::Report report = report_of(job, result, model_name, static_cast<int64_t>(model_bytes));
  if (!result.tflite || !result.tflite->is_simulated) report.runtime = request.runtime;
  if (request.time) report.time = request.time;
  const auto profile = enum_from_word<simulate::Profile>(report.runtime, "runtime");
  const auto choose = [&](int64_t count) {
    const Compared chosen =
        request.foreign ? compared_by_digest(data, statistics, count) : compared_by_number(*data, statistics, count);
    report.samples.held_aside = chosen.held_aside;
    report.samples.evaluation = static_cast<int64_t>(chosen.samples.size());
    return chosen.samples;
  };
  if (data && request.compared > 0) {
    const auto roles = job.settings.config.output_roles.value_or(config::OutputRoles());
    const auto program = report::CompareProgram::make(job.opened->model, result.model, profile, request.classes, roles);
    const std::vector<int64_t> compared = choose(request.compared);
    report.comparison = compare_samples(program, data, compared, report::layer_samples(compared), request.workforce);
    report::add_histograms(*report.comparison, statistics);
    if (profile == simulate::Profile::kX64 && report::saturation_remark(*report.comparison)) {
      const auto there =
          compare_samples(report::CompareProgram::make(job.opened->model, result.model, simulate::Profile::kAvx2,
                                                       request.classes, roles, report::Depth::kOutputs),
                          data, compared, {}, request.workforce);
      report.comparison->without_vnni = {there.output_sqnr_db, there.agreement};
    }
    if (const auto remark = report::saturation_remark(*report.comparison, profile == simulate::Profile::kAvx2))
      report.diagnostics.push_back(*remark);
  }
  if (data && !request.labels.empty())
    add_evaluation(request, profile, job, result, data, choose(request.evaluated), report);
  if (data && job.settings.metric)
    report.metric = own_evaluation(request, profile, job, result, data, choose(request.evaluated));
  if (data)
    if (auto remark = report::guess_remark(*data)) report.diagnostics.push_back(std::move(*remark));
  if (report.comparison || report.evaluation.quantized || report.metric) report.verdict = report::verdict_of(report);
  return report;
}

}  // namespace tersor
