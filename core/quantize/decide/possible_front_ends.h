// SPDX-License-Identifier: Apache-2.0
// Forecasts find_front_ends() before any sample was seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/decide/placement.h"

namespace tersor::ptq {

/// Indices, in graph order, of the kernels that find_front_ends() may leave in float. They are upstream of a logarithm,
/// root, power or reciprocal. Exempt are the root of a sum of squares, operators on a statistic, and powers that cannot
/// lose as much. `elements` is the number of elements of each value for one sample, by index; 0 if unknown. A reduction
/// of unknown size may be a statistic or not.
std::vector<size_t> possible_front_ends(const Graph& graph, const Placement& placement,
                                        std::span<const int64_t> elements);

}  // namespace tersor::ptq
