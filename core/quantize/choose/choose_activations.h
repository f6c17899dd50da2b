// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/decide/corrected_model.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// One plan per placed tensor. Tensors of one group get the parameters chosen from their merged histograms, unless one
/// of them is made by an operator whose parameters the platform fixes; the quantizer is that of the group's first
/// tensor. `ranges`: those selected so far, where they are kept.
std::vector<ActivationPlan> choose_activations(const Graph& graph, const framework::Attachment& attachment,
                                               const Placement& placement, const calibrate::Statistics& statistics,
                                               const config::QuantizationConfig& config,
                                               quant::RangeMemo* ranges = nullptr);

inline std::vector<ActivationPlan> choose_activations(const CorrectedModel& model,
                                                      const config::QuantizationConfig& config) {
  return choose_activations(model.model.graph, model.attachment, model.placement, model.statistics, config,
                            model.ranges.get());
}

}  // namespace tersor::ptq
