// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/evaluate/own_metric.h"
#include "core/native/workers.h"
#include "core/run/program.h"
#include "core/samples/data_set.h"

namespace tersor {

/// The outputs of a program for each of the chosen samples, in their order. `stage` is that of the progress.
std::vector<std::vector<Tensor>> outputs_of_samples(const std::shared_ptr<const run::Program>& program,
                                                    const std::shared_ptr<const samples::DataSet>& data,
                                                    const std::vector<int64_t>& chosen, std::string_view stage,
                                                    const Workforce& workforce);

/// What a metric of one's own says of a program's outputs for the chosen samples, and without each of so many parts.
evaluate::OwnFigures own_figures_of(const evaluate::OwnMetric& metric,
                                    const std::shared_ptr<const run::Program>& program,
                                    const std::shared_ptr<const samples::DataSet>& data,
                                    const std::vector<int64_t>& chosen, size_t parts, const Workforce& workforce);

}  // namespace tersor
