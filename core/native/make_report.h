// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/native/workers.h"
#include "core/report/report.h"
#include "core/samples/data_set.h"
#include "core/tersor.h"

namespace tersor {

struct ReportRequest {
  std::string runtime = "x64";  // whose arithmetic the comparison is in
  Workforce workforce;
  bool classes = false;  // the first output is scores of classes, whatever the graph tells
  bool foreign = false;  // the statistics were read, so the samples may be others than theirs
};

/// The report of a quantization. The comparison runs on at most kComparedSamples of `data`,
/// spread evenly: on samples that calibration has not seen where there are any, else on those it has. Without `data`
/// there is no comparison.
report::Report make_report(const ReportRequest& request, const std::string& model_name, size_t model_bytes,
                           const Job& job, const QuantizeResult& result, const calibrate::Statistics& statistics,
                           const std::shared_ptr<const samples::DataSet>& data);

constexpr int64_t kComparedSamples = 64;

}  // namespace tersor
