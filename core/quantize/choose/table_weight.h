// SPDX-License-Identifier: Apache-2.0
// Weights of the table methods LUT_POT_QUANTIZER and LUT_SYM_QUANTIZER. For float arithmetic the file holds the table
// and packed indices, and a Gather and a Mul restore the values. For an integer kernel it holds the entries themselves,
// as int8 with the scale of their channel. Such a kernel takes no other form, and ONNX Runtime would round a float
// weight beside a quantized input again.
#pragma once

#include <optional>
#include <span>

#include "core/graph/graph.h"
#include "core/quant/lut_quantizer.h"
#include "core/tpc/attribute_quantization_config.h"

namespace tersor::ptq {

/// Chooses the table of a kernel's weight or of a constant operand. lut_values_bitwidth is that of the platform, or 8.
/// Error kInvalidConfig for a number of bits without tables, and for entries of more than 8 bits beside a quantized
/// input.
quant::LutSelection choose_table(const Graph& graph, ValueId weight, const tpc::AttributeQuantizationConfig& config,
                                 std::optional<int> channel_axis, bool beside_quantized,
                                 const quant::Criterion& criterion);

/// The parameters of the entries as an even grid: scale and channels of the table, zero point 0.
quant::QuantizationParams even_params(const quant::LutParams& table);
/// The table with the scales of `params`, some of which were raised.
quant::LutParams with_scales(quant::LutParams table, const quant::QuantizationParams& params);

/// The entry nearest to each weight, in the weight's shape: int8, or int16 for entries of more than 8 bits.
Tensor entries_of(const Tensor& weight, const quant::LutParams& table);

/// Indices packed as digits. With K entries, a byte holds p = floor(log_K 256) digits, the lowest digit first. Row b of
/// `rows` holds the p entries of byte b. K = 16 gives two indices per byte.
struct PackedTable {
  Tensor rows;   // [K^p, p], int8 or int16
  Tensor bytes;  // [ceil(elements / p)], uint8
  int64_t per_byte = 1;
};
PackedTable pack(const Tensor& weight, const quant::LutParams& table);

}  // namespace tersor::ptq
