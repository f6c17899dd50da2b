// SPDX-License-Identifier: Apache-2.0
// The report of a job, for the program and the bindings alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/resource_utilization.h"
#include "core/report/graph_view.h"
#include "core/report/range_choices.h"
#include "core/report/report.h"
#include "core/report/weight_channels.h"
#include "core/job/tersor.h"

namespace tersor {

/// What the platform will make of the model's operators, before any sample is seen; `model_bytes`: the size of its
/// file.
report::Coverage expected_coverage(const Job& job, int64_t model_bytes);

/// What the model takes with these settings, before any sample is seen, as `target_resource_utilization` counts it: of
/// several candidates the platform's base configuration. What depends on sizes that the model leaves open to samples is
/// infinite, which JSON writes as null. MCT's resource_utilization_data().
config::ResourceUtilization expected_resources(const Job& job);

/// The prepared graph with what the platform will make of it, before any sample is seen.
report::GraphView expected_graph(const Job& job);

/// What the range of a tensor of the prepared graph is chosen from: what calibration saw of it and of the tensors that
/// share its parameters. Error kMismatch where the statistics hold no histogram of it.
report::ActivationRange activation_range_of(const Job& job, const calibrate::Statistics& statistics,
                                            const std::string& tensor, quant::QuantizationMethod method,
                                            const quant::IntegerGrid& grid);

/// All that is known without running the result: not `comparison`, `evaluation`, `verdict`, and of `samples` the
/// calibrated ones alone.
report::Report report_of(const Job& job, const QuantizeResult& result, std::string model_name, int64_t model_bytes);

/// What a person should know of the result: of ranges that say little, of settings that changed nothing, and the notes
/// of the job.
std::vector<Diagnostic> remarks_on(const Job& job, const QuantizeResult& result);

/// What the platform's runtime is expected to take for the float model and for the result.
std::optional<report::TimeForecast> time_forecast_of(const Job& job, const QuantizeResult& result);

}  // namespace tersor
