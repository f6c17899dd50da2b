// SPDX-License-Identifier: Apache-2.0
#include "core/choose/table_weight.h"

#include <cmath>

#include "core/base/error.h"

namespace tersor::ptq {

using quant::LutParams;

namespace {

constexpr int kByte = 8;

template <class Number>
Tensor tensor_of(const std::vector<int32_t>& values, Shape shape) {
  return Tensor::of<Number>(std::move(shape), std::vector<Number>(values.begin(), values.end()));
}

Tensor whole_numbers(const std::vector<int32_t>& values, const LutParams& table, Shape shape) {
  return table.values.value_bits <= kByte ? tensor_of<int8_t>(values, std::move(shape))
                                          : tensor_of<int16_t>(values, std::move(shape));
}

template <class MakeRows>
PackedTable pack_indices(std::span<const uint8_t> indices, const std::vector<int32_t>& table, MakeRows make_rows) {
  const auto count = static_cast<int64_t>(table.size());
  PackedTable packed;
  int64_t rows = count;
  while (count > 1 && rows * count <= 256) rows *= count, ++packed.per_byte;
  std::vector<int32_t> entries;
  for (int64_t byte = 0; byte < rows; ++byte)
    for (int64_t k = 0, rest = byte; k < packed.per_byte; ++k, rest /= count)
      entries.push_back(table[static_cast<size_t>(rest % count)]);
  packed.rows = make_rows(entries, Shape{rows, packed.per_byte});
  const auto per_byte = static_cast<size_t>(packed.per_byte);
  std::vector<uint8_t> bytes((indices.size() + per_byte - 1) / per_byte, 0);
  for (size_t k = indices.size(); k-- > 0;)
    bytes[k / per_byte] = static_cast<uint8_t>(bytes[k / per_byte] * count + indices[k]);
  packed.bytes = Tensor::of<uint8_t>(Shape{static_cast<int64_t>(bytes.size())}, bytes);
  return packed;
}

}  // namespace

quant::LutSelection choose_table(const Graph& graph, ValueId weight, const tpc::AttributeQuantizationConfig& config,
                                 std::optional<int> channel_axis, bool beside_quantized,
                                 const quant::Criterion& criterion) {
  const int value_bits = config.lut_values_bitwidth.value_or(kByte);
  if (value_bits > kByte && beside_quantized)
    throw Error(ErrorCode::kInvalidConfig,
                "The table's entries have " + std::to_string(value_bits) +
                    " bits; beside a quantized input an integer kernel takes 8.",
                "lut_values_bitwidth", "Use 8, or leave activations in float.");
  try {
    return quant::choose_lut_weight_params(*graph.initializer(weight), config.weights_quantization_method,
                                           config.weights_n_bits, value_bits, channel_axis, criterion);
  } catch (const Error& error) {
    if (error.code == ErrorCode::kInvalidArgument)
      throw Error(ErrorCode::kInvalidConfig, error.message, "config.weights_n_bits", error.hint);
    throw error.within("graph.initializer \"" + graph.name_of(weight) + "\"");
  }
}

quant::QuantizationParams even_params(const LutParams& table) {
  quant::QuantizationParams params;
  params.method = table.method;
  params.grid = {table.values.value_bits <= kByte ? kByte : 2 * kByte, true, false};
  params.channel_axis = table.channel_axis;
  params.scale = table.scale;
  params.zero_point.assign(table.scale.size(), 0);
  params.range.clear();
  for (const double threshold : table.threshold) params.range.push_back({-threshold, threshold});
  return params;
}

LutParams with_scales(LutParams table, const quant::QuantizationParams& params) {
  for (size_t c = 0; c < table.scale.size(); ++c) {
    if (table.scale[c] == params.scale[c]) continue;
    table.scale[c] = params.scale[c];
    table.threshold[c] = std::ldexp(static_cast<double>(params.scale[c]), table.values.value_bits - 1);
  }
  return table;
}

Tensor entries_of(const Tensor& weight, const LutParams& table) {
  const Tensor indices = quant::quantize(weight, table);
  std::vector<int32_t> entries;
  for (const uint8_t index : indices.data<uint8_t>()) entries.push_back(table.table[index]);
  return whole_numbers(entries, table, weight.shape());
}

PackedTable pack(const Tensor& weight, const LutParams& table) {
  const Tensor indices = quant::quantize(weight, table);
  return pack_indices(indices.data<uint8_t>(), table.table, [&](const std::vector<int32_t>& entries, Shape shape) {
    return whole_numbers(entries, table, std::move(shape));
  });
}

}  // namespace tersor::ptq
