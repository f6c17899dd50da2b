// SPDX-License-Identifier: Apache-2.0
// Weights in blocks as tensors of a file: in the weight's own order after a DequantizeLinear, row by row and padded
// where a runtime folds them, and as com.microsoft MatMulNBits reads them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/passes/kernel_op.h"
#include "core/decide/plan.h"
#include "core/quant/block_quantizer.h"

namespace tersor::ptq {

/// The weight as outputs x columns, a column being one input channel of a group under one tap: i * taps + tap.
std::vector<float> rows_of(const passes::KernelOp& op, const Tensor& weight);
/// Codes of the same order, in the weight's own.
std::vector<int8_t> in_weight_order(const passes::KernelOp& op, std::span<const int8_t> rows);
std::vector<int8_t> in_rows(const passes::KernelOp& op, std::span<const int8_t> codes);

/// The weight's values as the plan stores them, in its own order.
Tensor read_back(const KernelPlan& plan, const Tensor& weight);

/// One number for each output and block, [outputs, blocks], or [blocks, outputs] where the weight has its inputs first.
template <class Number>
std::vector<Number> by_block_first(std::span<const Number> by_output, int64_t blocks) {
  const size_t count = static_cast<size_t>(blocks), outputs = by_output.size() / count;
  std::vector<Number> turned(by_output.size());
  for (size_t o = 0; o < outputs; ++o)
    for (size_t b = 0; b < count; ++b) turned[b * outputs + o] = by_output[o * count + b];
  return turned;
}

/// Rows of codes, each filled up to whole blocks with its last block's zero point.
std::vector<int8_t> padded_rows(std::span<const int8_t> rows, const quant::BlockParams& params);

/// How a weight in blocks stands in the file.
enum class BlockForm { kDequantize, kFold, kMatMulNBits };
/// `node` as it is in the float model. MatMulNBits of 4 bits is as quick as the float product and reads an eighth of
/// its weight; of 2 and 8 bits it is slower by several times, unless it rounds the input to 8 bits, which prefer=SPEED
/// has.
BlockForm block_form(const QuantizationPlan& plan, const KernelPlan& kernel, const Node& node);

/// What MatMulNBits reads: codes and zero points from 0 up, low bits first, in 2, 4 or 8 bits.
struct NBitsWeight {
  int64_t bits = 4;
  Tensor codes;        // uint8 [outputs, blocks, bytes of a block]
  Tensor scales;       // float32 [outputs * blocks]
  Tensor zero_points;  // uint8 [outputs * bytes of its blocks'], no elements where all are half the range
};
NBitsWeight nbits_weight(std::span<const int8_t> rows, const quant::BlockParams& params);

}  // namespace tersor::ptq
