// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor::cost {

/// In which order the runtime keeps the axes of a value.
enum class AxisOrder : uint8_t {
  kPlain,    // as the model has them
  kInteger,  // channels last: around QLinearConv
  kFloat,    // in blocks of channels: around float Conv
};

/// By value index, in graph order: what a convolution makes is in its own order, and so is what operators that do not
/// mind the order make of that.
std::vector<AxisOrder> axis_orders(const Graph& graph);

/// The node takes its inputs in that order, so that nothing is turned before it.
bool takes(const Node& node, AxisOrder order);

}  // namespace tersor::cost
