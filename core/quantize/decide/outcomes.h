// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/framework/attach.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// Fills in, from the activations' parameters and the kernels, which clamps fold into the quantizer after them
/// (plan.folded_clamps) and how each node will be computed, with the reason where it stays float (plan.outcomes).
///
/// A clamp folds when it stands between its producer and a quantizer whose range reaches beyond the clamp's bounds by
/// no more than rounding errs by anyway, half a step, or not at all at an output of the model, and nobody reads its
/// float output.
void find_outcomes(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                   QuantizationPlan& plan);

/// What the guards of the written graph take back: a node that passes values on and reads them through a Sum of one
/// operand runs in float.
void take_back_guarded(const Graph& quantized, QuantizationPlan& plan);

/// What is known of the outcomes before any sample is seen: every quantizer does the work of the clamps before it, but
/// for those whose range cannot lie within their bounds (signed ones of a Relu, powers of two of a Relu6).
std::vector<NodeOutcome> expected_outcomes(const Graph& graph, const framework::Attachment& attachment,
                                           const Placement& placement);

}  // namespace tersor::ptq
