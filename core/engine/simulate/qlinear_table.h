// SPDX-License-Identifier: Apache-2.0
// One-input kernels that the runtimes compute by a table of 256 entries, table[q] = Q(fn(DQ(q))): QLinearSigmoid,
// QLinearLeakyRelu, and the change of parameters inside QLinearConcat and QLinearWhere.
#pragma once

#include <array>
#include <cstdint>

#include "core/simulate/arithmetic.h"
#include "core/simulate/profile.h"

namespace tersor::simulate {

/// Indexed by the raw byte.
using Table = std::array<uint8_t, 256>;

Table sigmoid_table(const Grid& x, const Grid& y, Profile profile);
Table leaky_relu_table(const Grid& x, const Grid& y, float alpha);
/// The same value on another grid; the identity where the grids are equal.
Table requantize_table(const Grid& x, const Grid& y);

}  // namespace tersor::simulate
