// SPDX-License-Identifier: Apache-2.0
// Weights by a table (LUT_POT_QUANTIZER, LUT_SYM_QUANTIZER). Before float arithmetic a file holds the table and
// packed indices, and a Gather and a Mul give the values back. Before an integer kernel it holds the entries
// themselves, which are int8 with the scale of their channel: such a kernel takes no other form, and ONNX Runtime would
// round a float weight beside a quantized input again.
#pragma once

#include <optional>
#include <span>

#include "core/graph/graph.h"
#include "core/quant/lut_quantizer.h"
#include "core/tpc/attribute_quantization_config.h"

namespace tersor::ptq {

/// The table of a kernel or of a constant operand. lut_values_bitwidth is the platform's, or 8. Error kInvalidConfig
/// for bits that no table has, and for entries of more than 8 bits beside a quantized input.
quant::LutSelection choose_table(const Graph& graph, ValueId weight, const tpc::AttributeQuantizationConfig& config,
                                 std::optional<int> channel_axis, bool beside_quantized,
                                 const quant::Criterion& criterion);

/// The entries seen as even steps: scale and channels of the table, zero point 0.
quant::QuantizationParams even_params(const quant::LutParams& table);
/// The table with the scales of `params`, some of which have been raised.
quant::LutParams with_scales(quant::LutParams table, const quant::QuantizationParams& params);

/// The entry of each weight, int8 (int16 for entries of more than 8 bits), of the weight's shape.
Tensor entries_of(const Tensor& weight, const quant::LutParams& table);

/// Indices packed as digits: with K entries, p = floor(log_K 256) of them make a byte, the first the lowest digit, and
/// row b of `rows` holds the p entries of byte b. K = 16 has two to a byte.
struct PackedTable {
  Tensor rows;   // [K^p, p], int8 or int16
  Tensor bytes;  // [ceil(elements / p)], uint8
  int64_t per_byte = 1;
};
PackedTable pack(const Tensor& weight, const quant::LutParams& table);

}  // namespace tersor::ptq
