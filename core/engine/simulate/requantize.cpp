// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/requantize.h"

#include "core/kernels/integer.h"

namespace tersor::simulate {

std::vector<float> requantize_multipliers(float x_scale, std::span<const float> w_scales, float y_scale) {
  std::vector<float> multipliers = dequantize_factors(x_scale, w_scales);
  for (float& multiplier : multipliers) multiplier /= y_scale;
  return multipliers;
}

std::vector<float> dequantize_factors(float x_scale, std::span<const float> w_scales) {
  std::vector<float> factors;
  factors.reserve(w_scales.size());
  for (float scale : w_scales) factors.push_back(x_scale * scale);
  return factors;
}

void requantize(std::span<const int32_t> sums, std::span<const float> multipliers, size_t columns, std::span<uint8_t> y,
                const Grid& grid) {
  if (columns == 0) return;
  kernels::requantize(sums.data(), static_cast<int64_t>(sums.size() / columns), static_cast<int64_t>(columns),
                      {multipliers.data(), multipliers.size() > 1, grid.zero_point, grid.low(), grid.high()}, y.data());
}

void dequantize_sums(std::span<const int32_t> sums, std::span<const float> factors, size_t columns,
                     std::span<float> y) {
  const bool per_channel = factors.size() > 1;
  for (size_t row = 0; row < sums.size(); row += columns)
    for (size_t c = 0; c < columns; ++c) y[row + c] = static_cast<float>(sums[row + c]) * factors[per_channel ? c : 0];
}

}  // namespace tersor::simulate
