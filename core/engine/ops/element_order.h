// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "core/ops/op.h"

namespace tersor::ops {

/// Compares two elements of a number or bool by their places: negative, 0 or positive. NaN comes last and equals
/// itself. One function for whatever sorts, of which WebAssembly would load 800 bytes for each type. Error
/// kUnsupportedModel for other types.
std::function<int(int64_t, int64_t)> element_order(const Input& input);

}  // namespace tersor::ops
