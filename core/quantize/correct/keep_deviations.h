// SPDX-License-Identifier: Apache-2.0
// The correction weights_second_moment_correction. Coarse or clipped weights change the deviation of a kernel's
// outputs, and the change grows from layer to layer. The sweep over the samples (sweep/sweep.h) measures mean and
// deviation of each output channel, of the float kernel and of the quantized kernel. The scale and bias of each channel
// then restore the float mean and deviation, as folding a BatchNormalization would:
//
//   gain = sqrt(variance + e) / sqrt(variance_q + e),  scale_w *= gain,  b = gain * b + (mean - gain * mean_q)
//
// The integers of the weight do not change. For these kernels it replaces bias correction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/decide/rewrite.h"

namespace tersor::ptq {

/// Mean and mean square of a channel.
struct ChannelMoments {
  double mean = 0, square = 0;

  double variance() const;
};

/// The map y = gain * x + shift of an output channel.
struct ChannelMap {
  double gain = 1, shift = 0;
};

/// The map that restores the float moments of each channel of a layer. `e` is 1e-5 of the float outputs' variance,
/// averaged over channels.
std::vector<ChannelMap> keeping_maps(std::span<const ChannelMoments> in_float,
                                     std::span<const ChannelMoments> quantized);

/// Marks the kernels whose deviations can be kept. They can have a bias, and they have a SYMMETRIC or UNIFORM scale for
/// each output; tables and blocks are excluded. Returns a line for the report if there are none.
std::optional<Rewrite> keep_deviations(QuantizationPlan& plan);

bool keeps_deviations(const QuantizationPlan& plan);

/// Applies the maps to scales and bias of a marked kernel. A channel whose bias would no longer fit into int32 is not
/// changed.
void map_outputs(std::span<const ChannelMap> maps, KernelPlan& kernel);

}  // namespace tersor::ptq
