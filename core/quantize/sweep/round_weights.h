// SPDX-License-Identifier: Apache-2.0
// Weights rounded not each to its nearest integer but so that the errors of one output channel make up for each other
// on the inputs that occur: least e^T H e, e being the rounding errors of a channel and H the Gram matrix of its inputs
// (ptq/gram.h), about their mean: a bias corrected on the samples takes out what the mean makes. Source: GPTQ (Frantar
// et al. 2022), in the form of Babai's nearest plane: with H = L L^T, columns are rounded from the last to the first,
// each after the errors of those before are carried over to it; columns stand by rising diagonal, and 1 % of the mean
// diagonal is added to H.
//
// A kernel is rounded so only when integers found on one half of the samples make less noise on the other half than the
// nearest ones do, both ways round, some of the outputs speaking for all; the integers kept are found on all samples.
// All in double, in a fixed order. A weight that several kernels have is rounded once, by the matrices of all their
// inputs summed.
#pragma once

#include <optional>

#include "core/calibrate/statistics.h"
#include "core/sweep/gram.h"

namespace tersor::ptq {

/// The kernel's weight, of that name; none when nothing is better than the nearest integers on samples held aside.
/// `effort` 1: as above. 2: also goes over the columns again until no step of one integer lowers the error, and tries
/// smaller scales; of these the one that does best on the samples held aside.
std::optional<calibrate::RoundedWeight> round_weight(const std::string& name, const Tensor& weight,
                                                     const KernelPlan& plan, const GramKernel& kernel,
                                                     const GramSums& sums, int effort);

/// The plan with the rounded weights in it.
void take_rounded(const Graph& graph, const calibrate::RoundedWeights& rounded, QuantizationPlan& plan);

}  // namespace tersor::ptq
