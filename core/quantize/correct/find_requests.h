// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/calibrate/collector.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/placement.h"

namespace tersor::ptq {

/// What a calibration has to watch: the tensors that are placed, the inputs of all kernels, what find_front_ends()
/// and keep_unlike_joins_in_float() look at, and the outputs of kernels whose means are corrected. Of each no more is
/// gathered than these settings read, or what `for_any_settings` may read. `placements`: of all divisions of the graph
/// that are compared.
std::vector<calibrate::Request> find_requests(const Model& model, const framework::Attachment& attachment,
                                              std::span<const Placement> placements,
                                              const config::QuantizationConfig& config, bool for_any_settings);

}  // namespace tersor::ptq
