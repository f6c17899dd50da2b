// SPDX-License-Identifier: Apache-2.0
// Converts weights in blocks to tensors of a file. There are three layouts: the weight's own order for a
// DequantizeLinear, padded rows for weights that the runtime folds, and the layout of com.microsoft MatMulNBits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/decide/plan.h"
#include "core/passes/kernel_op.h"
#include "core/quant/block_quantizer.h"

namespace tersor::ptq {

/// Reorders the weight as [outputs, columns]. A column is an input channel of a group under a tap: i * taps + tap.
std::vector<float> rows_of(const passes::KernelOp& op, const Tensor& weight);
/// Reorders codes from [outputs, columns] to the weight's own order.
std::vector<int8_t> in_weight_order(const passes::KernelOp& op, std::span<const int8_t> rows);
std::vector<int8_t> in_rows(const passes::KernelOp& op, std::span<const int8_t> codes);
/// The codes of a weight in blocks: the plan's, or the nearest, as [outputs, columns].
std::vector<int8_t> rows_of_codes(const KernelPlan& plan, const Tensor& weight);

/// The integers that an integer kernel reads of a weight in blocks, in the weight's own order.
std::vector<int8_t> levels_of(const KernelPlan& plan, const Tensor& weight);
/// Restores the weight's values as the plan stores them, in the weight's own order.
Tensor read_back(const KernelPlan& plan, const Tensor& weight);

/// Transposes numbers from [outputs, blocks] to [blocks, outputs], for weights whose inputs come first.
template <class Number>
std::vector<Number> by_block_first(std::span<const Number> by_output, int64_t blocks) {
  const size_t count = static_cast<size_t>(blocks), outputs = by_output.size() / count;
  std::vector<Number> turned(by_output.size());
  for (size_t o = 0; o < outputs; ++o)
    for (size_t b = 0; b < count; ++b) turned[b * outputs + o] = by_output[o * count + b];
  return turned;
}

/// Pads each row of codes to whole blocks with the zero point of its last block.
std::vector<int8_t> padded_rows(std::span<const int8_t> rows, const quant::BlockParams& params);

/// The form in which the file stores a weight in blocks.
enum class BlockForm { kDequantize, kFold, kMatMulNBits, kLevels };
/// Chooses the form; `node` is the node of the float model. MatMulNBits with 4 bits is as fast as the float product and
/// reads an eighth of its weight. With 2 or 8 bits it is several times slower, unless it rounds the input to 8 bits, as
/// prefer=SPEED allows.
BlockForm block_form(const QuantizationPlan& plan, const KernelPlan& kernel, const Node& node);

/// The inputs of MatMulNBits. Codes and zero points are unsigned and have 2, 4 or 8 bits, packed from the low bits up.
struct NBitsWeight {
  int64_t bits = 4;
  Tensor codes;        // uint8 [outputs, blocks, bytes per block]
  Tensor scales;       // float32 [outputs * blocks]
  Tensor zero_points;  // uint8 [outputs * bytes for its blocks]; empty if all are half the range
};
NBitsWeight nbits_weight(std::span<const int8_t> rows, const quant::BlockParams& params);

}  // namespace tersor::ptq
