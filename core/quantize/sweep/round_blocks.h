// SPDX-License-Identifier: Apache-2.0
// Weights in blocks rounded so that the errors of one output channel make up for each other on the inputs that occur,
// as ptq/round_weights.h has it, each block in a step of its own. The steps are those of least squared error with each
// column as important as its input is large, or those that the plan has; then they are fitted to the integers that were
// found, by least e^T H e, and the integers are looked for again.
#pragma once

#include <optional>
#include <string>

#include "core/calibrate/statistics.h"
#include "core/sweep/gram.h"

namespace tersor::ptq {

/// As round_weight(), of a kernel whose plan has blocks. `scales` of the result are those of all blocks.
std::optional<calibrate::RoundedWeight> round_blocks(const std::string& name, const Tensor& weight,
                                                     const KernelPlan& plan, const GramKernel& kernel,
                                                     const GramSums& sums);

}  // namespace tersor::ptq
