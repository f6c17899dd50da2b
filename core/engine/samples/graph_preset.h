// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "core/graph/graph.h"

namespace tersor::samples {

/// The preset that the first nodes of a graph speak for: what they take off its input and divide it by (Sub, Add, Mul,
/// Div by constants, or the statistics of a BatchNormalization, through nodes that only pass values on) are the mean
/// and the deviation of the numbers that it was made for. Absent where they do not tell.
std::optional<std::string_view> preset_of_graph(const Graph& graph);

}  // namespace tersor::samples
