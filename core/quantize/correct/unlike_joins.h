// SPDX-License-Identifier: Apache-2.0
// Keeps joins in float that a single scale cannot serve, and Mul and Div by factors of unlike size with them. A
// detector may output boxes of hundreds of pixels and scores up to 1 in one tensor: with a step for the boxes, every
// score is 0. Platforms that quantize every output would do that. So such a join at the end of a model stays in float,
// with the nodes that pass its values on. Its parts are quantized in front of it, each with its own scale.
#pragma once

#include <optional>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/decide/placement.h"
#include "core/decide/rewrite.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

struct CorrectedModel;

/// The tensors whose statistics keep_unlike_joins_in_float() needs: the operands of each Concat, ScatterND or
/// ScatterElements whose result is quantized and that no kernel follows.
std::vector<ValueId> joined_operands(const Graph& graph, const framework::Attachment& attachment,
                                     const Placement& placement);

/// The correction. A join that no kernel follows stays in float if two conditions hold for one of its parts: the noise
/// of the join's step (step² / 12) leaves the part less than 20 dB, and the part's own step is at most half as large.
/// Elementwise operators and movers behind it stay in float too, as long as their results may contain parts of unlike
/// size. A join in front of a kernel is quantized, because the kernel reads integers. Returns nothing if there is no
/// such join.
std::optional<Rewrite> keep_unlike_joins_in_float(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
