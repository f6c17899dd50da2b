// SPDX-License-Identifier: Apache-2.0
// Rounds weights so that the errors of an output channel compensate each other on the inputs that occur, instead of
// rounding each weight to its nearest integer.
//
// The errors e of a channel minimize e^T H e. H is the Gram matrix of the channel's inputs (sweep/gram.h) relative to
// their mean; the effect of the mean itself is removed by the bias correction. Source: GPTQ (Frantar et al. 2022), in
// the form of Babai's nearest plane. With H = L L^T, columns are rounded from the last to the first, and each error is
// carried over to the columns that follow. Columns are ordered by ascending diagonal, and 1 % of the mean of the
// diagonal is added to the diagonal of H.
//
// A kernel is rounded this way only if it passes a cross-check on a few of its outputs. Integers found on one half of
// the samples must make less noise on the other half than the nearest integers do. The integers kept are found on all
// samples. Every sum has a fixed order. A weight that several kernels share is rounded once, by the sum of their
// matrices.
#pragma once

#include <optional>

#include "core/calibrate/statistics.h"
#include "core/sweep/gram.h"

namespace tersor::ptq {

/// Rounds the kernel's weight, whose name is `name`. Returns nothing if the nearest integers are as good on the samples
/// held out. `effort` 1 rounds as described above. `effort` 2 also revisits the columns until no step of an integer
/// lowers the error; it tries smaller scales, and below 8 bits so does `effort` 1. The variant with the least noise on
/// the samples held out wins.
std::optional<calibrate::RoundedWeight> round_weight(const std::string& name, const Tensor& weight,
                                                     const KernelPlan& plan, const GramKernel& kernel,
                                                     const GramSums& sums, int effort);

/// Puts the rounded weights into the plan.
void take_rounded(const Graph& graph, const calibrate::RoundedWeights& rounded, QuantizationPlan& plan);

}  // namespace tersor::ptq
