// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/choose/choose_weights.h"

namespace tersor::ptq {

/// The correction activation_bias_correction: the mean error of each output that quantizing the kernel's input causes,
/// to be subtracted from the bias. It is quant::activation_bias_correction() over the histogram of the input. It
/// applies to kernels that weigh every input position alike: Gemm, and Conv of one tap without padding. Returns nothing
/// if the setting is off, if the input is not quantized, is quantized by a table or was not observed, if its mean
/// shifts by less than activation_bias_correction_threshold percent or not at all, or if only its extremes are known
/// (rescaled channels).
std::optional<std::vector<double>> input_mean_shift(const Node& node, const passes::KernelOp& op,
                                                    const WeightContext& context);

}  // namespace tersor::ptq
