// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/decide/rewrite.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// Removes the Muls that corrections inserted and that multiply by 1 because equalize_channels() found no factors for
/// them.
void drop_idle_scales(Graph& quantized, std::span<const Rewrite> rewrites);

}  // namespace tersor::ptq
