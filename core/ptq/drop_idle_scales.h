// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Takes out those of the Muls in `prepared` (SplitScales::behind) that equalize_channels() left at 1.
void drop_idle_scales(Graph& quantized, std::span<const NodeId> prepared);

}  // namespace tersor::ptq
