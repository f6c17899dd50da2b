// SPDX-License-Identifier: Apache-2.0
// What the program says when it has quantized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/cli/stage_times.h"
#include "core/job/tersor.h"
#include "core/report/report.h"

namespace tersor::cli {

struct Cost {
  double seconds = 0;
  std::vector<StageTimes::Stage> stages;    // the rest of `seconds` reads and writes files
  std::optional<int64_t> bytes_per_thread;  // of calibrating; absent where it is not known
};

/// References; the caller holds what they refer to.
struct QuantizeAnswer {
  const QuantizeResult& result;
  const calibrate::Statistics& statistics;
  const std::optional<report::Report>& report;  // absent: outputs were not compared
  const std::optional<report::TimeForecast>& time;
  const Cost& cost;
  const std::string& output;  // path of the file
  const std::string& aim;     // how what --accuracy, --sqnr or --file-size asks for is met; empty: nothing was asked
  size_t bytes_before;        // of the float model
  const std::vector<Diagnostic>& warnings;  // of reading it
};

/// Lines for a person, the verdict first; the names of all operators in float and bits of each where `verbose`.
void print_text(const QuantizeAnswer& answer, bool verbose);
/// One object on one line.
void print_json(const QuantizeAnswer& answer);

}  // namespace tersor::cli
