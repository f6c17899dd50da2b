// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"

namespace tersor::ptq {

/// The correction concat_threshold_update: a tensor that only a Concat reads takes the parameters of the Concat, so
/// that it is rounded once instead of twice. Tensors that movers tie to it take them too. Exempt are tensors with other
/// readers, outputs of a Concat, fixed or requested ranges, and other bit widths. A Relu or Clip that would no longer
/// fold into its quantizer is exempt as well. Records the changes in plan.corrections.
void take_concat_ranges(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                        QuantizationPlan& plan);

}  // namespace tersor::ptq
