// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/fuse_few_bits.h"

#include "core/graph/attribute_defaults.h"
#include "core/graph/qdq.h"

namespace tersor::simulate {

namespace {

constexpr int64_t kBlock = 32;  // that the runtime cuts a weight into whose scales are not in blocks

struct FewBitsWeight {
  const Tensor* codes;
  const Tensor* scales;
  const Tensor* zero_points;  // none: 0
  int64_t block = 0;          // 0: one scale for all, or one for each column

  int64_t rows() const { return codes->shape()[0]; }
  int64_t columns() const { return codes->shape()[1]; }
  int64_t bits() const { return bits_of(codes->dtype()); }
  bool is_signed() const { return codes->dtype() == DType::kInt4 || codes->dtype() == DType::kInt8; }
  int64_t block_size() const { return block == 0 ? kBlock : block; }
  int64_t blocks() const { return (rows() + block_size() - 1) / block_size(); }
  /// Which scale and zero point block `b` of column `c` has.
  int64_t parameter(int64_t b, int64_t c) const {
    return block != 0 ? b * columns() + c : scales->elements() == 1 ? 0 : c;
  }
};

bool has_few_bits(DType dtype) {
  return dtype == DType::kUint4 || dtype == DType::kInt4 || dtype == DType::kUint8 || dtype == DType::kInt8;
}

/// The scales fit the weight: in blocks along its rows, one for each column, or one.
bool fits(const FewBitsWeight& weight, int64_t axis) {
  const Shape& scales = weight.scales->shape();
  if (weight.block != 0)
    return axis == 0 && weight.block >= 16 && (weight.block & (weight.block - 1)) == 0 &&
           scales == Shape{weight.blocks(), weight.columns()};
  return scales.rank() == 0 || (scales == Shape{weight.columns()} && (axis == 1 || axis == -1));
}

std::optional<FewBitsWeight> few_bits_weight(const Graph& graph, const Uses& uses, ValueId value) {
  const auto producer = value.valid() ? uses.producer_index(value) : std::nullopt;
  if (!producer || uses.reader_count(value) != 1) return std::nullopt;
  const Node& node = graph.nodes()[*producer];
  if (node.op_type != "DequantizeLinear" || node.inputs.size() < 2) return std::nullopt;
  FewBitsWeight weight{graph.initializer(node.inputs[0]), graph.initializer(node.inputs[1]), nullptr,
                       int_of(node, "block_size")};
  if (weight.codes == nullptr || weight.scales == nullptr || weight.block < 0) return std::nullopt;
  if (!has_few_bits(weight.codes->dtype()) || weight.codes->shape().rank() != 2 || weight.codes->elements() == 0 ||
      weight.scales->dtype() != DType::kFloat32 || !fits(weight, int_of(node, "axis")))
    return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    weight.zero_points = graph.initializer(node.inputs[2]);
    if (weight.zero_points == nullptr || weight.zero_points->dtype() != weight.codes->dtype() ||
        !(weight.zero_points->shape() == weight.scales->shape()))
      return std::nullopt;
  }
  return weight;
}

/// Element `at` of codes of 4 or 8 bits, signed ones moved up by half their range.
uint8_t code_at(const Tensor& codes, int64_t at) {
  const auto byte = [&](int64_t k) { return std::to_integer<uint8_t>(codes.bytes()[static_cast<size_t>(k)]); };
  if (bits_of(codes.dtype()) == 8)
    return codes.dtype() == DType::kInt8 ? static_cast<uint8_t>(byte(at) ^ 128) : byte(at);
  const auto code = static_cast<uint8_t>(byte(at / 2) >> (at % 2 * 4) & 15);
  return codes.dtype() == DType::kInt4 ? code ^ 8 : code;
}

void set_code(std::span<std::byte> bytes, int64_t bits, int64_t at, uint8_t code) {
  const int64_t per_byte = 8 / bits;
  bytes[static_cast<size_t>(at / per_byte)] |= static_cast<std::byte>(code << (at % per_byte * bits));
}

/// [columns, blocks, bytes of a block]. What follows the last row is multiplied with 0.
Tensor turned_codes(const FewBitsWeight& weight) {
  const int64_t padded = weight.blocks() * weight.block_size();
  Tensor turned =
      Tensor::make(DType::kUint8, {weight.columns(), weight.blocks(), weight.block_size() * weight.bits() / 8});
  for (int64_t c = 0; c < weight.columns(); ++c)
    for (int64_t r = 0; r < weight.rows(); ++r)
      set_code(turned.mutable_bytes(), weight.bits(), c * padded + r, code_at(*weight.codes, r * weight.columns() + c));
  return turned;
}

Tensor turned_scales(const FewBitsWeight& weight) {
  const Tensor aligned = weight.scales->aligned();
  Tensor turned = Tensor::make(DType::kFloat32, {weight.columns(), weight.blocks()});
  for (int64_t c = 0; c < weight.columns(); ++c)
    for (int64_t b = 0; b < weight.blocks(); ++b)
      turned.mutable_data<float>()[static_cast<size_t>(c * weight.blocks() + b)] =
          aligned.data<float>()[static_cast<size_t>(weight.parameter(b, c))];
  return turned;
}

/// Absent where all are half the range, which is 0 of signed codes.
std::optional<Tensor> turned_zero_points(const FewBitsWeight& weight) {
  if (weight.zero_points == nullptr && weight.is_signed()) return std::nullopt;
  const int64_t column_bytes = (weight.blocks() * weight.bits() + 7) / 8, padded = column_bytes * 8 / weight.bits();
  Tensor turned = Tensor::make(DType::kUint8, {weight.columns(), column_bytes});
  if (weight.zero_points == nullptr) return turned;
  for (int64_t c = 0; c < weight.columns(); ++c)
    for (int64_t b = 0; b < weight.blocks(); ++b)
      set_code(turned.mutable_bytes(), weight.bits(), c * padded + b,
               code_at(*weight.zero_points, weight.parameter(b, c)));
  return turned;
}

bool is_plain_product(const Node& node) {
  return node.is("MatMul") || (node.is("Gemm") && int_of(node, "transA") == 0 && int_of(node, "transB") == 0 &&
                               float_of(node, "alpha") == 1.0f && float_of(node, "beta") == 1.0f);
}

bool has_bias(const Node& node) {
  return node.inputs.size() > 2 && node.inputs[2].valid();
}

bool bias_fits(const Graph& graph, const Node& node, int64_t columns) {
  if (!has_bias(node)) return true;
  const Tensor* bias = graph.initializer(node.inputs[2]);
  return bias != nullptr && bias->dtype() == DType::kFloat32 && bias->shape() == Shape{columns};
}

}  // namespace

std::optional<Node> matmul_of_few_bits(Graph& graph, const Uses& uses, const Node& matmul) {
  if (matmul.inputs.size() < 2 || dequantized(graph, uses, matmul.inputs[0]) ||
      quantized(graph, uses, matmul.outputs[0]) || !is_plain_product(matmul))
    return std::nullopt;
  const auto weight = few_bits_weight(graph, uses, matmul.inputs[1]);
  if (!weight || !bias_fits(graph, matmul, weight->columns())) return std::nullopt;
  const std::string stem = graph.name_of(matmul.inputs[1]);
  Node node = matmul;
  node.attributes = {};
  node.domain = "com.microsoft";
  node.op_type = "MatMulNBits";
  node.attributes["K"] = weight->rows();
  node.attributes["N"] = weight->columns();
  node.attributes["bits"] = weight->bits();
  node.attributes["block_size"] = weight->block_size();
  node.attributes["accuracy_level"] = int64_t{4};
  Tensor codes = turned_codes(*weight), scales = turned_scales(*weight);
  std::optional<Tensor> zero_points = turned_zero_points(*weight);
  node.inputs = {matmul.inputs[0], graph.add_initializer(stem + "_blocks", std::move(codes)),
                 graph.add_initializer(stem + "_scales", std::move(scales))};
  if (zero_points) node.inputs.push_back(graph.add_initializer(stem + "_zero_points", std::move(*zero_points)));
  if (has_bias(matmul)) {
    node.inputs.resize(5);
    node.inputs.push_back(matmul.inputs[2]);
  }
  return node;
}

}  // namespace tersor::simulate
