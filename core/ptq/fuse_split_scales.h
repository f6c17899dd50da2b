// SPDX-License-Identifier: Apache-2.0
// The other half of split_scales.h.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Moves per-channel Mul and Add beside a scalar quantizer into it, and drops Muls that equalization left at 1. Returns
/// how many quantizers became per channel.
int64_t fuse_split_scales(Model& quantized);

}  // namespace tersor::ptq
