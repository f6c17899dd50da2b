// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/tersor.h"
#include "core/native/workers.h"
#include "core/report/report.h"
#include "core/samples/data_set.h"

namespace tersor {

/// Samples that a verdict is said on, with a report and without one.
constexpr int64_t kComparedSamples = 64;

/// Code of the diagnostic that the first output is no scores of the labels' classes.
inline constexpr std::string_view kLabelsNotCounted = "labels_not_counted";

struct ReportRequest {
  std::string runtime = "x64";  // whose arithmetic the comparison is in
  Workforce workforce;
  bool classes = false;                  // the first output is scores of classes, whatever the graph tells
  bool foreign = false;                  // the statistics were read, so the samples may be others than theirs
  int64_t compared = kComparedSamples;   // at most so many; 0: there is no comparison
  std::vector<int64_t> labels = {};      // of all samples, for the accuracy of both models; empty: it is not measured
  int64_t evaluated = kComparedSamples;  // at most so many, with labels
  std::optional<report::TimeForecast> time = {};  // that was measured, in place of the forecast
};

/// The report of a quantization. The comparison runs on at most `compared` samples of `data`, spread evenly: on samples
/// that calibration has not seen where there are any, else on those it has. Without `data` there is no comparison. With
/// labels, right answers of both models are counted on at most `evaluated` samples, chosen in the same way; where the
/// first output is no scores of these classes, a diagnostic says so instead.
report::Report make_report(const ReportRequest& request, const std::string& model_name, size_t model_bytes,
                           const Job& job, const QuantizeResult& result, const calibrate::Statistics& statistics,
                           const std::shared_ptr<const samples::DataSet>& data);

}  // namespace tersor
