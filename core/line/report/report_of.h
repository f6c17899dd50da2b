// SPDX-License-Identifier: Apache-2.0
// The report of a job, for the program and the bindings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/resource_utilization.h"
#include "core/job/tersor.h"
#include "core/report/graph_view.h"
#include "core/report/range_choices.h"
#include "core/report/report.h"
#include "core/report/weight_channels.h"

namespace tersor {

/// How the platform will run the model's operators, before any sample was seen. `model_bytes` is the size of the
/// model's file.
report::Coverage expected_coverage(const Job& job, int64_t model_bytes);

/// What the model takes with these settings, before any sample was seen, as `target_resource_utilization` counts it.
/// Operators with several candidates have the platform's base configuration. Figures that depend on sizes left open to
/// the samples are infinite, which JSON writes as null. Corresponds to MCT's resource_utilization_data().
config::ResourceUtilization expected_resources(const Job& job);

/// The prepared graph and how the platform will run it, before any sample was seen.
report::GraphView expected_graph(const Job& job);

/// The inputs to the choice of a tensor's range: the statistics of the tensor, in the prepared graph, and of those that
/// share its parameters. Error kMismatch if the statistics have no histogram of it.
report::ActivationRange activation_range_of(const Job& job, const calibrate::Statistics& statistics,
                                            const std::string& tensor, quant::QuantizationMethod method,
                                            const quant::IntegerGrid& grid);

/// The report without what requires running the result: `comparison`, `evaluation` and `verdict` are missing, and
/// `samples` has only the calibrated ones.
report::Report report_of(const Job& job, const QuantizeResult& result, std::string model_name, int64_t model_bytes);

/// Remarks on the result for the user: ranges with a low SQNR, settings that changed nothing, and the notes of the job.
std::vector<Diagnostic> remarks_on(const Job& job, const QuantizeResult& result);

/// The time that the platform's runtime is expected to take for the float model and for the result.
std::optional<report::TimeForecast> time_forecast_of(const Job& job, const QuantizeResult& result);

}  // namespace tersor
