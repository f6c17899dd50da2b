// SPDX-License-Identifier: Apache-2.0
// Blockwise quantization of weights: a block of consecutive inputs of an output channel shares a scale and a zero
// point.
//   x = (q - zero_point) * scale, in float32
// An integer kernel takes one scale for each output and no blocks. It reads the nearest whole multiples of that scale:
//   x = level * row_scale,  level = round((q - zero_point) * ratio),  ratio = scale / row_scale in float16
// Small blocks make few bits go further, because the largest of 32 weights is closer to the others than the largest of
// 1536.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/quant/params.h"
#include "core/quant/threshold_search.h"

namespace tersor::quant {

inline constexpr int kSmallestBlock = 16;
inline constexpr int kLargestBlock = 256;
inline constexpr int kBitsOfLevels = 8;

/// Parameters of a weight matrix [outputs, columns] whose rows are cut into blocks of `size` columns; the last block of
/// a row may be shorter.
///
/// Invariants: the grid is signed and has 2 to 8 bits. scale and zero_point have one entry per output and block, output
/// by output. Each scale is a finite, normal number other than 0. It is negative only if `allows_negative`: then the
/// longer side of the grid lies where the block's largest weight is. Each zero point lies in the grid; it is 0 for
/// SYMMETRIC and POWER_OF_TWO.
struct BlockParams {
  QuantizationMethod method = QuantizationMethod::kSymmetric;
  IntegerGrid grid{4, true, false};
  bool allows_negative = false;
  int64_t size = 32;
  int64_t columns = 0;
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
  /// Scales within float16's normal numbers are numbers of that type.
  bool half_scales = false;
  /// For an integer kernel: the scale of each output, a normal number above 0. Otherwise empty.
  std::vector<float> row_scale = {};

  /// The number that is stored for the scale of the block.
  float stored_scale(float exact, size_t block) const;
  bool has_levels() const { return !row_scale.empty(); }
  /// With levels: what the difference of a code from its zero point is multiplied by, a number of float16.
  float ratio(size_t block) const;
  /// With levels: in [-127, 127] for codes within bounds().
  int8_t level(int32_t code, size_t block) const;
  float value(int32_t code, size_t block) const;
  /// The least and the largest code of the block: those of the grid, with levels those whose level has 8 bits.
  std::pair<int32_t, int32_t> bounds(size_t block) const;
  int64_t blocks() const { return (columns + size - 1) / size; }
  size_t index(int64_t output, int64_t column) const { return static_cast<size_t>(output * blocks() + column / size); }
  bool has_zero_points() const;
  bool operator==(const BlockParams&) const = default;
};

/// Chooses scales and zero points for `weights` [outputs, columns], row-major; `params` gives all other members. Each
/// block gets the range of least error: of the criterion's power for MSE, MAE and Lp, else of the squared error.
/// NOCLIPPING with 8 bits takes the extremes. `importance` weights the error of each column; empty weights all alike.
/// Error kInvalidModel for a weight that is not finite, kInvalidConfig for a table method.
BlockParams choose_blocks(std::span<const float> weights, BlockParams params, const Criterion& criterion,
                          std::span<const double> importance = {});

/// The nearest code of each weight, in the order of `weights`.
std::vector<int8_t> quantize(std::span<const float> weights, const BlockParams& params);
/// The level of each code, in the order of `codes`; `params` has levels.
std::vector<int8_t> levels_of(std::span<const int8_t> codes, const BlockParams& params);
/// The value of each code, in the order of `codes`.
std::vector<float> dequantize(std::span<const int8_t> codes, const BlockParams& params);

}  // namespace tersor::quant
