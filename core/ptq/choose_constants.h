// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/ptq/plan.h"

namespace tersor::ptq {

/// Parameters of the constant operands (of an Add, a Concat, a Gather) that the platform quantizes. Per channel means
/// along the axis that leaves the least error, of those that the constant is longer than 1 on. Platforms that
/// quantize what kernels read alone do so for embeddings (large tables whose rows a Gather takes, with a scale for each
/// row) and for the weights of recurrent layers (a scale for each row of a gate, which both directions share):
/// elsewhere a constant beside a float operand is better float. Of `plan` the activations count.
std::vector<ConstantPlan> choose_constants(const Graph& graph, const framework::Attachment& attachment,
                                           const config::QuantizationConfig& config, const QuantizationPlan& plan);

}  // namespace tersor::ptq
