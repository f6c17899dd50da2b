// SPDX-License-Identifier: Apache-2.0
// Rounds weights in blocks as sweep/round_weights.h rounds other weights: the errors of an output channel compensate
// each other on the inputs that occur. Each block has its own scale, either that of the plan or that of least squared
// error with columns weighted by the size of their inputs. The scales are then refitted to the integers found, by least
// e^T H e, and the integers are searched again.
#pragma once

#include <optional>
#include <string>

#include "core/calibrate/statistics.h"
#include "core/sweep/gram.h"

namespace tersor::ptq {

/// Like round_weight(), for a kernel whose plan has blocks. `scales` of the result are those of all blocks.
std::optional<calibrate::RoundedWeight> round_blocks(const std::string& name, const Tensor& weight,
                                                     const KernelPlan& plan, const GramKernel& kernel,
                                                     const GramSums& sums);

}  // namespace tersor::ptq
