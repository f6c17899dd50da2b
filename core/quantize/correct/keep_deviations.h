// SPDX-License-Identifier: Apache-2.0
// weights_second_moment_correction: coarse or clipped weights make the outputs of a kernel quieter or louder, and more
// so from layer to layer. The sweep over the samples (ptq/sweep.h) measures the mean and the deviation of each output
// channel, of the float kernel and of the quantized one. Scale and bias of the channel then give the quantized outputs
// the float model's mean and deviation, as folding a BatchNormalization of them would:
//
//   gain = sqrt(variance + e) / sqrt(variance_q + e),  scale_w *= gain,  b = gain * b + (mean - gain * mean_q)
//
// The integers of the weight stay what they are. It takes the place of bias correction there.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/decide/rewrite.h"

namespace tersor::ptq {

/// A channel's mean and mean square.
struct ChannelMoments {
  double mean = 0, square = 0;

  double variance() const;
};

/// What an output channel is multiplied by, and what is added to it then.
struct ChannelMap {
  double gain = 1, shift = 0;
};

/// For each channel of a layer. `e` is a hundred-thousandth of the float outputs' variance, in the mean over channels.
std::vector<ChannelMap> keeping_maps(std::span<const ChannelMoments> in_float,
                                     std::span<const ChannelMoments> quantized);

/// Marks the kernels whose deviations can be kept: those with a bias to shift and a SYMMETRIC or UNIFORM scale for each
/// output. A report's line when there is none.
std::optional<Rewrite> keep_deviations(QuantizationPlan& plan);

bool keeps_deviations(const QuantizationPlan& plan);

/// Onto scales and bias of a marked kernel. A channel whose bias would not fit into int32 any more stays as it is.
void map_outputs(std::span<const ChannelMap> maps, KernelPlan& kernel);

}  // namespace tersor::ptq
