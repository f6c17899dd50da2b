// SPDX-License-Identifier: Apache-2.0
// Stores codes, and creates the nodes that restore their values when the file is opened or run.
#include <algorithm>

#include "core/export/added_names.h"
#include "core/export/applier.h"
#include "core/quant/quantizer.h"

namespace tersor::ptq {

/// Whole numbers as a tensor of 4, 8 or 16 bits; those of 4 bits two to a byte, the first in the low half.
Tensor integers(std::span<const int32_t> values, DType type, const Shape& shape) {
  Tensor tensor = Tensor::make(type, shape);
  const auto bytes = tensor.mutable_bytes();
  const int bits = bits_of(type);
  TERSOR_CHECK(bits == 4 || bits == 8 || bits == 16);
  if (bits == 4) std::fill(bytes.begin(), bytes.end(), std::byte{0});
  for (size_t k = 0; k < values.size(); ++k) {
    const auto code = static_cast<uint32_t>(values[k]);
    if (bits == 4) {
      bytes[k / 2] |= static_cast<std::byte>((code & 15U) << (k % 2 * 4));
    } else {
      const size_t width = static_cast<size_t>(bits) / 8;
      for (size_t b = 0; b < width; ++b) bytes[k * width + b] = static_cast<std::byte>(code >> (8 * b) & 255U);
    }
  }
  return tensor;
}

Node Applier::pair_node(const std::string& type, const std::string& name, std::vector<ValueId> inputs, ValueId output) {
  Node node;
  node.op_type = type;
  node.name = name + "_" + type;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

/// A node at the end of `nodes`, and the value it makes; a Cast casts to `dtype`.
ValueId Applier::chain(std::vector<Node>& nodes, const std::string& type, const std::string& name,
                       std::vector<ValueId> inputs, const std::string& result, DType dtype) {
  const ValueId made = graph().add_unique_value(result, dtype);
  nodes.push_back(pair_node(type, name, std::move(inputs), made));
  if (type == "Cast") nodes.back().attributes["to"] = static_cast<int64_t>(dtype);
  return made;
}

ValueId Applier::scale_of(const std::string& stem, const QuantizationParams& params) {
  const auto count = static_cast<int64_t>(params.scale.size());
  const Shape shape = params.per_channel() ? Shape{count} : Shape{};
  return graph().add_initializer(stem + kScale, Tensor::of<float>(shape, params.scale));
}

ValueId Applier::zero_point_of(const std::string& stem, const QuantizationParams& params, DType type) {
  const auto count = static_cast<int64_t>(params.zero_point.size());
  const Shape shape = params.per_channel() ? Shape{count} : Shape{};
  return graph().add_initializer(stem + kZeroPoint, integers(params.zero_point, type, shape));
}

/// The codes stored, and the DequantizeLinear that gives their values back as `output`.
Node Applier::restore(std::string name, Tensor codes, const QuantizationParams& params, ValueId output) {
  const DType type = weight_type(params);
  if (type == DType::kInt4) codes = stored_codes(codes.data<int8_t>(), type, codes.shape());
  const ValueId stored = stored_codes_of(name, std::move(codes), params.grid.n_bits);
  Node node =
      pair_node("DequantizeLinear", name, {stored, scale_of(name, params), zero_point_of(name, params, type)}, output);
  if (params.per_channel()) node.attributes["axis"] = static_cast<int64_t>(*params.channel_axis);
  return node;
}

/// Codes that are there already, with the kernel's own scales where they differ.
Node Applier::restore_shared(const StoredWeight& known, const QuantizationParams& params, ValueId output) {
  const std::string name = name_of(output);
  const ValueId scale = known.scales == params.scale ? known.scale : scale_of(name, params);
  Node node = pair_node("DequantizeLinear", name, {known.codes, scale, known.zero_point}, output);
  if (params.per_channel()) node.attributes["axis"] = static_cast<int64_t>(*params.channel_axis);
  return node;
}

/// The nodes that look packed indices up, and the float value of the entries, of the shape.
ValueId Applier::unpack(const std::string& name, PackedTable packed, const Shape& shape, std::vector<Node>& nodes) {
  const int64_t stored = packed.bytes.elements() * packed.per_byte;
  const auto then = [&](const char* type, const char* part, std::vector<ValueId> inputs, DType dtype) {
    return chain(nodes, type, name + part, std::move(inputs), name + part, dtype);
  };
  const DType entry = packed.rows.dtype();
  const ValueId rows = graph().add_initializer(name + kTable, std::move(packed.rows));
  ValueId value = graph().add_initializer(name + kPacked, std::move(packed.bytes));
  value = then("Cast", kIndices, {value}, DType::kInt32);
  value = then("Gather", kEntries, {rows, value}, entry);
  if (stored != shape.elements()) {  // the last byte holds more than there is
    value = then("Reshape", "_line", {value, whole(name + "_all", {-1})}, entry);
    value =
        then("Slice", "_used", {value, whole(name + "_first", {0}), whole(name + "_end", {shape.elements()})}, entry);
  }
  value = then("Reshape", kShaped, {value, whole(name + kShape, shape.dims())}, entry);
  return then("Cast", kPlaces, {value}, DType::kFloat32);
}

/// Packed indices, and the nodes that look them up and scale what they find. The name is a copy: values that are added
/// move those that are there.
void Applier::look_up(std::string name, const Tensor& values, const quant::LutParams& table, ValueId output,
                      std::vector<Node>& nodes) {
  const Shape& shape = values.shape();
  const ValueId value = unpack(name, pack(values, table), shape, nodes);
  Tensor scale = Tensor::of<float>(Shape{}, {table.scale[0]});
  if (table.channel_axis) {
    std::vector<int64_t> dims(static_cast<size_t>(shape.rank()), 1);
    dims[static_cast<size_t>(*table.channel_axis)] = static_cast<int64_t>(table.scale.size());
    scale = Tensor::of<float>(Shape(std::move(dims)), table.scale);
  }
  nodes.push_back(pair_node("Mul", name, {value, graph().add_initializer(name + kScale, std::move(scale))}, output));
}

/// Codes as floats.
ValueId Applier::folded_codes(const std::string& name, const std::vector<int8_t>& codes, const quant::IntegerGrid& grid,
                              const Shape& shape, std::vector<Node>& nodes) {
  const ValueId stored = stored_codes_of(name, Tensor::of<int8_t>(shape, codes), grid.n_bits);
  return chain(nodes, "Cast", name + kPlaces, {stored}, name + kPlaces, DType::kFloat32);
}

/// Cast, Sub and Mul give the values of a DequantizeLinear, to the bit.
void Applier::fold(const std::string& name, const Tensor& codes, const QuantizationParams& params, ValueId output,
                   std::vector<Node>& nodes) {
  const auto span = codes.data<int8_t>();
  const ValueId value = folded_codes(name, {span.begin(), span.end()}, params.grid, codes.shape(), nodes);
  scale_codes(name, value, codes.shape().rank(), params, output, nodes);
}

/// Codes as floats times the scales of `params`.
void Applier::scale_codes(const std::string& name, ValueId value, int rank, const QuantizationParams& params,
                          ValueId output, std::vector<Node>& nodes) {
  std::vector<int64_t> dims;
  if (params.per_channel()) {
    dims.assign(static_cast<size_t>(rank), 1);
    dims[static_cast<size_t>(*params.channel_axis)] = static_cast<int64_t>(params.scale.size());
  }
  if (std::any_of(params.zero_point.begin(), params.zero_point.end(), [](int32_t zero) { return zero != 0; })) {
    const std::vector<float> zeros(params.zero_point.begin(), params.zero_point.end());
    const ValueId zero_point = graph().add_initializer(name + kZeroPoint, Tensor::of<float>(Shape(dims), zeros));
    value = chain(nodes, "Sub", name, {value, zero_point}, name + "_steps", DType::kFloat32);
  }
  const ValueId scale = graph().add_initializer(name + kScale, Tensor::of<float>(Shape(dims), params.scale));
  nodes.push_back(pair_node("Mul", name, {value, scale}, output));
}

DType Applier::weight_type(const QuantizationParams& params) const {
  const bool has_type =
      params.grid.is_signed && params.grid.n_bits <= 4 && model_.opset() >= kOpsetOfSmallIntegers && !folds_constants();
  return has_type ? DType::kInt4 : params.storage();
}

Tensor stored_codes(std::span<const int8_t> codes, DType type, const Shape& shape) {
  if (type != DType::kInt4) return Tensor::of<int8_t>(shape, codes);
  return integers(std::vector<int32_t>(codes.begin(), codes.end()), type, shape);
}

}  // namespace tersor::ptq
