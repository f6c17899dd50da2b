// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/decide/rewrite.h"

namespace tersor::ptq {

/// Takes out those Muls among what corrections inserted that multiply by 1: equalize_channels() had no factors for
/// them.
void drop_idle_scales(Graph& quantized, std::span<const Rewrite> rewrites);

}  // namespace tersor::ptq
