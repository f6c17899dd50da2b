// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"

namespace tersor::ptq {

/// Chooses the parameters of every placed tensor. Tensors of a group share the parameters chosen from their merged
/// histograms, by the quantizer of the group's first tensor. If the platform fixes the parameters of an operator that
/// makes one of them, the group takes those. `ranges` is a cache of selected ranges; it may be null.
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
