// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/quant/range_memo.h"

namespace tersor::ptq {

/// Error kUnsupportedModel if no operator can become an integer kernel or store its weight in integers. `in_float` are
/// kernels that could but are kept in float.
void require_kernels(const Graph& graph, const Placement& placement, const std::vector<FloatChoice>& in_float = {});

/// Chooses the parameters of every placed tensor and of every weight. `statistics` must hold the placed tensors. Error
/// kMismatch if a tensor was not observed, kInvalidConfig for settings that this kind of file cannot represent.
/// `ranges` is a cache of selected ranges; it may be null.
QuantizationPlan choose_params(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                               const calibrate::Statistics& statistics, const config::QuantizationConfig& config,
                               quant::RangeMemo* ranges = nullptr);

}  // namespace tersor::ptq
