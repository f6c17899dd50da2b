// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/quant/range_memo.h"

namespace tersor::ptq {

/// Error kUnsupportedModel when no operator can become an integer kernel or store its weight in integers; `in_float`:
/// those that could and were kept from it.
void require_kernels(const Graph& graph, const Placement& placement, const std::vector<FloatChoice>& in_float = {});

/// Chooses the parameters of every placed tensor and of every weight. `statistics` holds the placed tensors. Error
/// kMismatch when a tensor was not observed, kInvalidConfig for settings that this kind of file cannot hold. `ranges`:
/// those selected so far, where they are kept.
QuantizationPlan choose_params(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                               const calibrate::Statistics& statistics, const config::QuantizationConfig& config,
                               quant::RangeMemo* ranges = nullptr);

}  // namespace tersor::ptq
