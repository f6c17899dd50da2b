// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tersor::kernels {

/// to[r * to_step + c] = from[c * from_step + r] for all of `rows` and `columns`, elements of four bytes.
void transpose(const uint32_t* from, int64_t from_step, int64_t rows, int64_t columns, uint32_t* to, int64_t to_step);

/// to[k] = from[2 * k] for `count` elements of four bytes.
void take_every_second(const uint32_t* from, int64_t count, uint32_t* to);

}  // namespace tersor::kernels
