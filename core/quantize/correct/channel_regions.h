// SPDX-License-Identifier: Apache-2.0
// Finds regions of a graph through which a factor per channel passes unchanged. equalize_channels() rescales them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/decide/placement.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// The channels (axis 1) of a tensor as a span of its region's channels; the inputs of a Concat have adjacent spans.
struct ChannelSpan {
  int64_t first = 0, count = 0;
};

/// Tensors that can be divided by common factors per channel without changing the function of the graph.
struct ChannelRegion {
  std::map<ValueId, ChannelSpan> values;
  std::set<size_t> sources, ends;  // nodes that make a value (Convs, Muls by a constant), Convs that read one
  int64_t channels = 0;
};

/// Returns the regions in the order of their first source.
std::vector<ChannelRegion> find_channel_regions(const Graph& graph, const Placement& placement);

/// The constant of a Mul with a factor per channel, as split_scales.h inserts it; null for any other node.
const Tensor* channel_factors(const Graph& graph, const Node& node);

}  // namespace tersor::ptq
