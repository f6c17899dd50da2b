// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/report/report.h"
#include "core/samples/data_set.h"
#include "core/tersor.h"

namespace tersor::cli {

/// What `tersor quantize --report` is told.
struct ReportRequest {
  std::string path;             // of the report; empty: none is wanted
  std::string runtime = "x64";  // whose arithmetic the comparison is in
  int threads = 0;
  bool classes = false;  // the first output is scores of classes, whatever the graph tells
  bool foreign = false;  // the statistics were read, so the samples may be others than theirs
};

/// The report of a quantization; none where none is wanted. The comparison runs on at most kComparedSamples of `data`,
/// spread evenly: on samples that calibration has not seen where there are any, else on those it has. Without `data`
/// there is no comparison.
std::optional<report::Report> make_report(const ReportRequest& request, const std::string& model_path,
                                          size_t model_bytes, const Job& job, const QuantizeResult& result,
                                          const calibrate::Statistics& statistics,
                                          const std::shared_ptr<const samples::DataSet>& data);

constexpr int64_t kComparedSamples = 64;

}  // namespace tersor::cli
