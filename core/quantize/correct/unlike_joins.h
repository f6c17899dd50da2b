// SPDX-License-Identifier: Apache-2.0
// Joins that one scale cannot serve. A detector gives out boxes of hundreds of pixels and scores up to 1 in one tensor:
// with a step for the boxes every score is 0. Platforms that quantize every output would do that, so such a join at the
// end of a model, and what passes its values on from there, stays in float; its parts are quantized before it, each
// with a scale of its own.
#pragma once

#include <optional>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/placement.h"
#include "core/decide/rewrite.h"

namespace tersor::ptq {

struct CorrectedModel;

/// The tensors whose statistics keep_unlike_joins_in_float() looks at: what a Concat, ScatterND or ScatterElements
/// joins whose result is quantized and that no kernel follows.
std::vector<ValueId> joined_operands(const Graph& graph, const framework::Attachment& attachment,
                                     const Placement& placement);

/// The correction. A join that no kernel follows stays in float where the noise of its step (step² / 12) would leave
/// one of its parts less than 20 dB and the part's own step is half of it at most; so do elementwise operators and
/// movers after it, as long as parts of unlike size may be in what they give. A join before a kernel is quantized, as
/// the kernel reads integers. None where there is no such join.
std::optional<Rewrite> keep_unlike_joins_in_float(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
