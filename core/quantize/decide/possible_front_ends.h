// SPDX-License-Identifier: Apache-2.0
// What a forecast can say of front ends (find_front_ends.h) before any sample was seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/decide/placement.h"

namespace tersor::ptq {

/// Indices of the kernels that find_front_ends() may leave in float once it has statistics, in the order of the graph:
/// those upstream of a logarithm, root, power or reciprocal that is neither the root of a sum of squares nor of a
/// statistic, nor a power that cannot lose as much. `elements`: of each value by index for one sample, 0 where not
/// known; a reduction of unknown size is taken for a statistic, which most are.
std::vector<size_t> possible_front_ends(const Graph& graph, const Placement& placement,
                                        std::span<const int64_t> elements);

}  // namespace tersor::ptq
