// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/diagnostic.h"
#include "core/calibrate/statistics.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor::report {

/// Tensors with a lower SQNR in dB get a remark: at 10 dB, noise is a tenth of the signal's power.
inline constexpr double kLeastRangeSqnrDb = 10;

/// The SQNR in dB of a tensor on a grid, over the bin centres of its histogram from calibration; infinite if there is
/// no noise.
double expected_sqnr_db(const quant::Histogram& seen, const quant::QuantizationParams& params,
                        const std::optional<quant::LutParams>& table = std::nullopt);

/// A remark for every activation and kernel whose range leaves less than kLeastRangeSqnrDb (weights of few bits: less
/// than 6 dB a bit allow), in graph order. Padding that the range omits is exempt (choose/pad_fillers.h). `graph`,
/// `placement` and `statistics` are those that the plan was chosen for.
std::vector<Diagnostic> range_remarks(const Graph& graph, const ptq::Placement& placement,
                                      const ptq::QuantizationPlan& plan, const calibrate::Statistics& statistics);

/// All diagnostics that a report has before measurements: the file's warnings, the job's notes on platform and
/// settings, and range_remarks().
std::vector<Diagnostic> remarks_of(std::vector<Diagnostic> warnings, const std::vector<Diagnostic>& notes,
                                   const Graph& graph, const ptq::Placement& placement,
                                   const ptq::QuantizationPlan& plan, const calibrate::Statistics& statistics);

}  // namespace tersor::report
