// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/fuse_blocks.h"

#include "core/simulate/qdq.h"

namespace tersor::simulate {

namespace {

struct BlockedWeight {
  const Tensor* codes;
  const Tensor* scales;
  const Tensor* zero_points;  // none: 0
  int64_t block = 0;
};

std::optional<BlockedWeight> blocked_weight(const Graph& graph, const Uses& uses, ValueId value) {
  const auto producer = value.valid() ? uses.producer_index(value) : std::nullopt;
  if (!producer || uses.reader_count(value) != 1) return std::nullopt;
  const Node& node = graph.nodes()[*producer];
  if (node.op_type != "DequantizeLinear" || node.inputs.size() < 2 || node.int_or("axis", 1) != 0) return std::nullopt;
  BlockedWeight weight{graph.initializer(node.inputs[0]), graph.initializer(node.inputs[1]), nullptr,
                       node.int_or("block_size", 0)};
  const int64_t block = weight.block;
  if (weight.codes == nullptr || weight.scales == nullptr || block < 16 || (block & (block - 1)) != 0)
    return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    weight.zero_points = graph.initializer(node.inputs[2]);
    if (weight.zero_points == nullptr || weight.zero_points->dtype() != weight.codes->dtype()) return std::nullopt;
  }
  const Shape& shape = weight.codes->shape();
  const bool four_bits = weight.codes->dtype() == DType::kUint4 || weight.codes->dtype() == DType::kInt4;
  if (!four_bits || shape.rank() != 2 || weight.scales->dtype() != DType::kFloat32 || shape.elements() == 0)
    return std::nullopt;
  const Shape blocks{(shape[0] + block - 1) / block, shape[1]};
  if (!(weight.scales->shape() == blocks) ||
      (weight.zero_points != nullptr && !(weight.zero_points->shape() == blocks)))
    return std::nullopt;
  return weight;
}

uint8_t code_at(const Tensor& codes, int64_t at) {
  const auto byte = std::to_integer<uint8_t>(codes.bytes()[static_cast<size_t>(at / 2)]);
  const auto code = static_cast<uint8_t>(byte >> (at % 2 * 4) & 15);
  return codes.dtype() == DType::kInt4 ? code ^ 8 : code;  // -8 ... 7 to 0 ... 15
}

/// [rows, columns] codes column by column, each column padded to `padded` codes, two codes to a byte.
Tensor by_column(const Tensor& codes, int64_t padded, Shape shape) {
  const int64_t rows = codes.shape()[0], columns = codes.shape()[1];
  Tensor turned = Tensor::make(DType::kUint8, std::move(shape));
  auto bytes = turned.mutable_bytes();
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = c * padded + r;
      bytes[static_cast<size_t>(at / 2)] |= static_cast<std::byte>(code_at(codes, r * columns + c) << (at % 2 * 4));
    }
  return turned;
}

Tensor turned_scales(const Tensor& scales) {
  const int64_t rows = scales.shape()[0], columns = scales.shape()[1];
  const Tensor aligned = scales.aligned();
  Tensor turned = Tensor::make(DType::kFloat32, {columns, rows});
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      turned.mutable_data<float>()[static_cast<size_t>(c * rows + r)] =
          aligned.data<float>()[static_cast<size_t>(r * columns + c)];
  return turned;
}

}  // namespace

std::optional<Node> matmul_of_blocks(Graph& graph, const Uses& uses, const Node& matmul) {
  if (!matmul.is("MatMul") || matmul.inputs.size() != 2 || quantized(graph, uses, matmul.outputs[0]))
    return std::nullopt;
  const auto weight = blocked_weight(graph, uses, matmul.inputs[1]);
  if (!weight) return std::nullopt;
  const int64_t depth = weight->codes->shape()[0], columns = weight->codes->shape()[1],
                blocks = weight->scales->shape()[0], zero_bytes = (blocks + 1) / 2;
  const std::string stem = graph.name_of(matmul.inputs[1]);
  Node node = matmul;
  node.domain = "com.microsoft";
  node.op_type = "MatMulNBits";
  node.attributes["K"] = depth;
  node.attributes["N"] = columns;
  node.attributes["bits"] = int64_t{4};
  node.attributes["block_size"] = weight->block;
  node.attributes["accuracy_level"] = int64_t{4};
  Tensor codes = by_column(*weight->codes, blocks * weight->block, {columns, blocks, weight->block / 2});
  Tensor scales = turned_scales(*weight->scales);
  const bool is_signed = weight->codes->dtype() == DType::kInt4;
  std::optional<Tensor> zero_points;  // 8 where they are left out, which is 0 of int4
  if (weight->zero_points != nullptr)
    zero_points = by_column(*weight->zero_points, 2 * zero_bytes, {columns, zero_bytes});
  else if (!is_signed)
    zero_points = Tensor::make(DType::kUint8, {columns, zero_bytes});
  node.inputs = {matmul.inputs[0], graph.add_initializer(stem + "_blocks", std::move(codes)),
                 graph.add_initializer(stem + "_scales", std::move(scales))};
  if (zero_points) node.inputs.push_back(graph.add_initializer(stem + "_zero_points", std::move(*zero_points)));
  return node;
}

}  // namespace tersor::simulate
