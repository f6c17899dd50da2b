// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/framework/attach.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// concat_threshold_update: what feeds a Concat alone takes the parameters that were chosen for the Concat, so that it
/// is rounded once instead of twice; tensors that movers tie to it take them too. Left alone: what something else reads
/// as well, what a Concat makes, fixed or asked-for ranges, other bit widths, and a Relu or Clip that would no longer
/// fold into its quantizer. Enters what it did in plan.corrections.
void take_concat_ranges(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                        QuantizationPlan& plan);

}  // namespace tersor::ptq
