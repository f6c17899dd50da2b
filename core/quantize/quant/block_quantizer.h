// SPDX-License-Identifier: Apache-2.0
// Weights in blocks: so many inputs of one output channel share a scale and a zero point,
//   x = (q - zero_point) * scale, in float32.
// Few bits reach further that way: the largest of 32 weights lies nearer to the others than the largest of 1536.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/quant/params.h"
#include "core/quant/threshold_search.h"

namespace tersor::quant {

inline constexpr int kSmallestBlock = 16;
inline constexpr int kLargestBlock = 256;

/// Parameters of a matrix of outputs x columns, whose rows are cut into blocks of `size` columns, the last one shorter
/// where that does not divide. Invariants: 2 to 8 bits, signed; scale and zero_point have an entry for each output and
/// block, output by output; a scale is not 0, finite and normal, and below 0 only where `allows_negative`: then the
/// grid's longer side lies where the block's largest weight is. A zero point lies in the grid; SYMMETRIC and
/// POWER_OF_TWO have 0.
struct BlockParams {
  QuantizationMethod method = QuantizationMethod::kSymmetric;
  IntegerGrid grid{4, true, false};
  bool allows_negative = false;
  int64_t size = 32;
  int64_t columns = 0;
  std::vector<float> scale;
  std::vector<int32_t> zero_point;

  int64_t blocks() const { return (columns + size - 1) / size; }
  size_t index(int64_t output, int64_t column) const { return static_cast<size_t>(output * blocks() + column / size); }
  bool has_zero_points() const;
  bool operator==(const BlockParams&) const = default;
};

/// Chooses scales and zero points for `weights`, outputs x columns, row-major; `params` says everything else. The range
/// of each block is the one of least error: of the criterion's power where it is MSE, MAE or LP; least squares else,
/// and with 8 bits NOCLIPPING takes the extremes. `importance`: a weight for each column's error, or none. Error
/// kInvalidModel for a weight that is not finite, kInvalidConfig for a method without even steps.
BlockParams choose_blocks(std::span<const float> weights, BlockParams params, const Criterion& criterion,
                          std::span<const double> importance = {});

/// The nearest integers, in the order of `weights`.
std::vector<int8_t> quantize(std::span<const float> weights, const BlockParams& params);
/// The values of integers, in their order.
std::vector<float> dequantize(std::span<const int8_t> codes, const BlockParams& params);

}  // namespace tersor::quant
