// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/calibrate/bit_configuration.h"
#include "core/config/quantization_config.h"
#include "core/graph/graph.h"
#include "core/mixed/configurable.h"

namespace tersor::mixed {

/// Sensitivities as they were measured; by operator, then candidate.
using Sensitivities = std::vector<std::vector<double>>;

/// The candidate of each operator that is least sensitive in all within the budgets of the settings, or that of
/// configuration_overwrite. Error kInvalidConfig for budgets that no choice meets, with what it takes at least, or a
/// configuration_overwrite that does not fit. Bit operations of an operator whose weights and input both have a choice
/// are no sum, so that another choice within that budget may be less sensitive than `gap` says.
calibrate::BitConfiguration choose_configuration(const Graph& graph, const framework::Attachment& attachment,
                                                 const UtilizationMeter& meter,
                                                 const std::vector<Configurable>& operators,
                                                 const Sensitivities& sensitivities,
                                                 const config::QuantizationConfig& config);

}  // namespace tersor::mixed
