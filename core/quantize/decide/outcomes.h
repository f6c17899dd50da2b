// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"

namespace tersor::ptq {

/// Sets plan.folded_clamps, the clamps that fold into the quantizer behind them, and plan.outcomes, how each node is
/// computed and, where in float, why. Both follow from the kernels and from the parameters of the activations.
///
/// A clamp folds if it stands between its producer and a quantizer, nobody reads its float output, and the quantizer's
/// range keeps the clamp's bounds. The range may exceed the bounds by rounding error, half a step; at an output of the
/// model it must not exceed them.
void find_outcomes(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                   QuantizationPlan& plan);

/// Sets to float the nodes that the guards of the written graph prevent from running in integers: those that pass
/// values on and read them through a Sum of one operand.
void take_back_guarded(const Graph& quantized, QuantizationPlan& plan);

/// The outcomes as far as they are known before any sample was seen. Each quantizer is assumed to replace the clamps in
/// front of it, unless its range cannot keep their bounds: a signed range for a Relu, a power of two for a Relu6.
std::vector<NodeOutcome> expected_outcomes(const Graph& graph, const framework::Attachment& attachment,
                                           const Placement& placement);

}  // namespace tersor::ptq
