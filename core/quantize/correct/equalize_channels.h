// SPDX-License-Identifier: Apache-2.0
// Channel equalization. Where the channels of a tensor have unlike ranges, the quiet ones get few of the 256 steps. A
// region of the graph through which a factor per channel passes unchanged (Relu, pooling, Add, Concat of channels, ...)
// and that begins and ends in Convs can be rescaled: the Convs that make it divide their rows by s_c, those that read
// it multiply their input channels by it, and the float function stays the same. (Nagel et al. 2019, arXiv:1906.04721,
// with our own choice of s_c: r_c^alpha, r_c being the channel's part of the tensor's range, and the alpha of least
// predicted noise.)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/correct/channel_regions.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

struct EqualizedRegion {
  std::map<ValueId, ChannelSpan> values;  // all tensors that are rescaled
  /// By the region's channels: what the tensors are divided by, from 2^-15 to 1 in quarters of an octave.
  std::vector<double> scales;

  std::vector<double> scales_of(ValueId value) const;
  double alpha = 0;
  /// Predicted noise power after over before, in all readers of the region.
  double noise_ratio = 1;
};

/// Rescales the weights in `model` and the statistics of the regions' tensors, region by region, where the predicted
/// noise falls to at most 0.8 of what it was. A rescaled tensor keeps its extremes; its histogram is lost: it says that
/// half of all elements lie at either end, so that a search for its range clips nothing.
std::vector<EqualizedRegion> equalize_regions(CorrectedModel& model);

/// The correction. None where no region was rescaled.
std::optional<Rewrite> equalize_channels(CorrectedModel& model, const config::QuantizationConfig&);

/// How a quantized file says in its metadata (kChannelScales) by what its tensors differ from those of the float model:
/// a line "SCALES NAME" per quantized tensor, one letter per channel, the quarter octaves in base64.
constexpr std::string_view kChannelScales = "tersor.channel_scales";
/// By tensor name. Lines that are none of these are left out.
std::map<std::string, std::vector<double>> read_channel_scales(std::string_view text);

}  // namespace tersor::ptq
