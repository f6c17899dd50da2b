// SPDX-License-Identifier: Apache-2.0
// Where a factor per channel passes through a graph unchanged: what equalize_channels() rescales.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/graph/graph.h"
#include "core/decide/placement.h"

namespace tersor::ptq {

/// The channels (axis 1) that a tensor has of its region's: those of a Concat lie side by side.
struct ChannelSpan {
  int64_t first = 0, count = 0;
};

/// Tensors that can be divided by one factor per channel without a change of what the graph computes.
struct ChannelRegion {
  std::map<ValueId, ChannelSpan> values;
  std::set<size_t> sources, ends;  // Convs (or Muls by a constant) that make a value of it, Convs that read one
  int64_t channels = 0;
};

/// In the order of their first source.
std::vector<ChannelRegion> find_channel_regions(const Graph& graph, const Placement& placement);

/// The constant of a Mul that has one factor per channel (split_scales.h inserts such); null for any other node.
const Tensor* channel_factors(const Graph& graph, const Node& node);

}  // namespace tersor::ptq
