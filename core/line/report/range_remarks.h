// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/diagnostic.h"
#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/decide/plan.h"

namespace tersor::report {

/// Below this signal-to-noise ratio in dB a tensor's grid is remarked on: at 10 dB a tenth of the signal's power is
/// noise.
inline constexpr double kLeastRangeSqnrDb = 10;

/// The signal-to-noise ratio in dB that a grid gives what calibration saw of a tensor, over the bin centres of its
/// histogram; infinite without noise.
double expected_sqnr_db(const quant::Histogram& seen, const quant::QuantizationParams& params,
                        const std::optional<quant::LutParams>& table = std::nullopt);

/// A remark for every activation and every kernel whose chosen range leaves less than kLeastRangeSqnrDb, in graph
/// order; not for a padding that the range leaves out (ptq/pad_fillers.h). `graph`, `placement` and `statistics`: those
/// that the plan was chosen for.
std::vector<Diagnostic> range_remarks(const Graph& graph, const ptq::Placement& placement,
                                      const ptq::QuantizationPlan& plan, const calibrate::Statistics& statistics);

/// The diagnostics of a report before anything is measured: the file's warnings, the job's notes on platform and
/// settings, and range_remarks().
std::vector<Diagnostic> remarks_of(std::vector<Diagnostic> warnings, const std::vector<Diagnostic>& notes,
                                   const Graph& graph, const ptq::Placement& placement,
                                   const ptq::QuantizationPlan& plan, const calibrate::Statistics& statistics);

}  // namespace tersor::report
