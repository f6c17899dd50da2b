// SPDX-License-Identifier: Apache-2.0
// From int32 sums to the output of QLinearConv, QLinearMatMul, QGemm and MatMulIntegerToFloat (onnxruntime
// core/mlas/lib/quantize.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/simulate/arithmetic.h"

namespace tersor::simulate {

/// Multiplier per output channel (or one): m[c] = f(f(sx * sw[c]) / sy).
std::vector<float> requantize_multipliers(float x_scale, std::span<const float> w_scales, float y_scale);
/// Factor per output channel (or one) of float outputs: f(sx * sw[c]).
std::vector<float> dequantize_factors(float x_scale, std::span<const float> w_scales);

/// sums and y are [rows, columns]; multipliers have `columns` entries or one.
/// y = rne(clamp(f(sum) * m, low - zp, high - zp)) + zp.
void requantize(std::span<const int32_t> sums, std::span<const float> multipliers, size_t columns, std::span<uint8_t> y,
                const Grid& grid);
/// y = f(sum) * factor.
void dequantize_sums(std::span<const int32_t> sums, std::span<const float> factors, size_t columns, std::span<float> y);

}  // namespace tersor::simulate
