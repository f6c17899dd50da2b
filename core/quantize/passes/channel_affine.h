// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::passes {

/// y = scale[c] x + shift[c] for channel c.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

/// What a BatchNormalization in inference mode with constant float parameters does; none for other nodes, for another
/// number of channels and where a variance leaves nothing to divide by.
std::optional<ChannelAffine> normalization(const Graph& graph, const Node& node, int64_t channels);

}  // namespace tersor::passes
