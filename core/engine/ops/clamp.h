// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/ops/op.h"

namespace tersor::ops {

/// x[k] = min(max(x[k], low), high) in place for n elements of any number type; NaN stays NaN. Bounds beyond a whole
/// number type's range do nothing there.
void apply_clamp(const Clamp& clamp, DType dtype, std::byte* x, size_t n);

}  // namespace tersor::ops
