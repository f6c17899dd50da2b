// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/simulate/arithmetic.h"

namespace tersor::simulate {

/// The uint8 grid that DynamicQuantizeLinear (and DynamicQuantizeMatMul) chooses for these values: their range, 0
/// included, in 255 steps. NaN is passed over.
Grid dynamic_grid(std::span<const float> values);

}  // namespace tersor::simulate
