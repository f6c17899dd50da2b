// SPDX-License-Identifier: Apache-2.0
// The error that quantization causes in each output channel of a weight.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::report {

struct WeightChannel {
  double largest = 0;
  std::optional<double> sqnr_db;

  static constexpr auto fields() {
    return std::make_tuple(
        field("largest", &WeightChannel::largest, "Largest absolute weight."),
        field("sqnr_db", &WeightChannel::sqnr_db, "SQNR in dB of its weights; null when exact or in float."));
  }
};

struct WeightChannels {
  std::optional<int64_t> n_bits;
  bool per_channel = false;
  std::vector<WeightChannel> channels;

  static constexpr auto fields() {
    return std::make_tuple(field("n_bits", &WeightChannels::n_bits, "Bits of the weight; null in float."),
                           field("per_channel", &WeightChannels::per_channel, "Each channel has a scale of its own."),
                           field("channels", &WeightChannels::channels, "By output channel."));
  }
};

/// The channels of the node that overrides call `name`. Each weight is rounded to the nearest integer at the scales
/// that the settings choose, without later corrections. `channels` is empty if the node has no constant weight. Error
/// kInvalidArgument if there is no node of that name.
WeightChannels weight_channels(const Graph& graph, const framework::Attachment& attachment,
                               const config::QuantizationConfig& config, const std::string& name);

}  // namespace tersor::report
