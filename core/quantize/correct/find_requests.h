// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/calibrate/collector.h"
#include "core/config/quantization_config.h"
#include "core/decide/placement.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// Returns the tensors that a calibration must observe. These are the placed tensors, the inputs of all kernels, the
/// operands that find_front_ends() and keep_unlike_joins_in_float() examine, and the outputs of kernels whose means are
/// corrected. For each tensor only the statistics that these settings read are gathered, or with `for_any_settings` all
/// that any settings may read. `placements` are those of all divisions of the graph that are compared.
std::vector<calibrate::Request> find_requests(const Model& model, const framework::Attachment& attachment,
                                              std::span<const Placement> placements,
                                              const config::QuantizationConfig& config, bool for_any_settings);

}  // namespace tersor::ptq
