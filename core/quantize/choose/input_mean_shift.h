// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/choose/choose_weights.h"

namespace tersor::ptq {

/// activation_bias_correction: what quantizing a kernel's input adds to the mean of each output, to be taken from the
/// bias: quant::activation_bias_correction over the histogram of the input. Only for what weighs every input alike
/// everywhere: Gemm, and Conv of one tap without padding. None where the setting is off, the input is not quantized or
/// its shift is below activation_bias_correction_threshold percent of its mean, and for an input of which only the
/// extremes are known (rescaled channels).
std::optional<std::vector<double>> input_mean_shift(const Node& node, const passes::KernelOp& op,
                                                    const WeightContext& context);

}  // namespace tersor::ptq
