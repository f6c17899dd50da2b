// SPDX-License-Identifier: Apache-2.0
// Channel equalization gives all channels of a tensor similar ranges; otherwise small channels use few of the 256
// steps.
//
// A region of the graph through which a factor per channel passes unchanged (Relu, pooling, Add, Concat of channels,
// ...) can be rescaled if it begins and ends in Convs. The Convs that make it divide their output channels by s_c, and
// the Convs that read it multiply their input channels by s_c. The float function stays the same. Source: Nagel et al.
// 2019, arXiv:1906.04721. The choice of s_c is our own: s_c = r_c^alpha, where r_c is the channel's share of the
// tensor's range, with the alpha of least predicted noise.
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

/// A region that was rescaled, and by how much.
struct EqualizedRegion {
  std::map<ValueId, ChannelSpan> values;  // all rescaled tensors
  /// The divisors of the region's channels, at most 1, in quarters of an octave.
  std::vector<double> scales;

  std::vector<double> scales_of(ValueId value) const;
  double alpha = 0;
  /// Predicted noise power over all readers of the region, after over before.
  double noise_ratio = 1;
};

/// Rescales weights and statistics region by region, where the predicted noise falls to at most 0.8, or to 0.5 where a
/// quantizer gets its own scales for it. A rescaled tensor has rescaled extremes and loses its histogram. The new
/// histogram has half of the elements at each end, so that a search for its range clips nothing.
std::vector<EqualizedRegion> equalize_regions(CorrectedModel& model);

/// The correction. Returns nothing if no region was rescaled.
std::optional<Rewrite> equalize_channels(CorrectedModel& model, const config::QuantizationConfig&);

/// The metadata key of a quantized file that lists the divisors of its tensors relative to the float model. Each
/// rescaled tensor has a line "SCALES NAME" with a base64 letter per channel that encodes quarter octaves.
constexpr std::string_view kChannelScales = "tersor.channel_scales";
/// Parses such lines and skips others; the result is by tensor name.
std::map<std::string, std::vector<double>> read_channel_scales(std::string_view text);

}  // namespace tersor::ptq
