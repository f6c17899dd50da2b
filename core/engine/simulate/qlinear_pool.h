// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/simulate/arithmetic.h"

namespace tersor::simulate {

/// One window of a pooling kernel, as flat offsets into a channel's plane in the order (h, w, d), and the divisor.
struct PoolWindow {
  std::vector<int64_t> offsets;  // in-bounds positions only
  int64_t divisor = 1;           // window size with padding counted, or the number of in-bounds positions
};

/// com.microsoft QLinearAveragePool (qlinear_pool.cc): dequantize, sum in order in float32, divide, divide by the
/// output's scale, add the zero point, round. `stride` is the distance between two positions of one channel (1 for
/// planes, C for channels last).
uint8_t qlinear_average(std::span<const uint8_t> plane, int64_t stride, const PoolWindow& window, const Grid& x,
                        const Grid& y);

/// com.microsoft QLinearGlobalAveragePool over `count` positions. Also what an average pool over the whole picture
/// becomes.
uint8_t qlinear_global_average(std::span<const uint8_t> plane, int64_t stride, int64_t count, const Grid& x,
                               const Grid& y);

}  // namespace tersor::simulate
