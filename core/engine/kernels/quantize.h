// SPDX-License-Identifier: Apache-2.0
// Between floats and 8-bit codes, as QuantizeLinear and DequantizeLinear define them. A code is a raw byte; whether it
// is uint8 or int8 is said beside it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tersor::kernels {

struct CodeGrid {
  float scale;  // finite and above 0
  int32_t zero_point;
  bool is_signed;
};

/// A grid for each place: `n` scales and as many raw codes that are their zero points, or null where all are 0.
struct CodeGrids {
  const float* scales;  // finite and above 0
  const uint8_t* zero_points;
  bool is_signed;
};

/// q[k] = saturate(rne(x[k] / scale) + zero_point), a division and no reciprocal. NaN gives the lowest code,
/// as ONNX Runtime has it on x64 and ARM64.
void quantize_codes(const float* x, size_t n, const CodeGrid& grid, uint8_t* q);
void quantize_codes(const float* x, size_t n, const CodeGrids& grids, uint8_t* q);
/// y[k] = float(q[k] - zero_point) * scale.
void dequantize_codes(const uint8_t* q, size_t n, const CodeGrid& grid, float* y);
void dequantize_codes(const uint8_t* q, size_t n, const CodeGrids& grids, float* y);
/// y[k] = q[k] - zero_point.
void widen_codes(const uint8_t* q, size_t n, const CodeGrid& grid, int16_t* y);

enum class CodeArithmetic : uint8_t { kAdd, kMul, kMulByRatio };

/// y[k] = rne(min(max(v / to.scale, low - zp), high - zp) + zp), zp being to.zero_point, low and high the ends of its 8
/// bits, and v = (a[k] - zero point) * scale op the same of b. kMulByRatio: y[k] = rne(min(max(p * r + zp, low),
/// high)), p being the product of the differences of codes from zero points and r the one ratio of scales. Each
/// operation is rounded; NaN gives the lowest code.
void combine_codes(CodeArithmetic op, const uint8_t* a, const CodeGrid& of_a, const uint8_t* b, const CodeGrid& of_b,
                   size_t n, const CodeGrid& to, uint8_t* y);

}  // namespace tersor::kernels
