// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/qlinear_pool.h"

namespace tersor::simulate {

uint8_t qlinear_average(std::span<const uint8_t> plane, int64_t stride, const PoolWindow& window, const Grid& x,
                        const Grid& y) {
  float sum = 0;
  for (int64_t offset : window.offsets) sum += dequantize(plane[static_cast<size_t>(offset * stride)], x);
  const float value = sum / static_cast<float>(window.divisor) / y.scale;
  return saturate(round_half_even(value + static_cast<float>(y.zero_point)), y);
}

uint8_t qlinear_global_average(std::span<const uint8_t> plane, int64_t stride, int64_t count, const Grid& x,
                               const Grid& y) {
  int32_t sum = -x.zero_point * static_cast<int32_t>(count);
  for (int64_t i = 0; i < count; ++i) sum += x.number(plane[static_cast<size_t>(i * stride)]);
  const float ratio = x.scale / (y.scale * static_cast<float>(count));
  return saturate_then_shift(static_cast<float>(sum) * ratio, y);
}

}  // namespace tersor::simulate
