// SPDX-License-Identifier: Apache-2.0
#include "core/choose/block_weight.h"

#include "core/graph/attribute_defaults.h"
#include "core/quant/quantizer.h"

namespace tersor::ptq {

using quant::BlockParams;

namespace {

/// Calls visit(place in rows, place in the weight) for each element.
template <class Visit>
void for_each_place(const passes::KernelOp& op, Visit visit) {
  size_t to = 0;
  for (int64_t o = 0; o < op.outputs; ++o)
    for (int64_t i = 0; i < op.inputs_per_group(); ++i)
      for (int64_t tap = 0; tap < op.taps; ++tap) visit(to++, op.at(o, i, tap));
}

void set_bits(std::span<std::byte> bytes, size_t bits, size_t at, uint32_t code) {
  const size_t per_byte = 8 / bits;
  bytes[at / per_byte] |= static_cast<std::byte>(code << (at % per_byte * bits));
}

}  // namespace

BlockForm block_form(const QuantizationPlan& plan, const KernelPlan& kernel, const Node& node) {
  if (kernel.has_levels()) return BlockForm::kLevels;
  if (!tpc::folds(plan.float_weights)) return BlockForm::kDequantize;
  const bool is_plain = node.is("MatMul") || (node.is("Gemm") && float_of(node, "alpha") == 1.0f &&
                                              float_of(node, "beta") == 1.0f && int_of(node, "transA") == 0);
  const int bits = kernel.blocks->grid.n_bits;
  const bool is_quick = plan.accuracy_level == kSumsOf8Bits || bits == 3 || bits == 4;
  return plan.float_weights == tpc::FloatWeights::kMatMulNBits && is_plain && is_quick ? BlockForm::kMatMulNBits
                                                                                       : BlockForm::kFold;
}

std::vector<float> rows_of(const passes::KernelOp& op, const Tensor& weight) {
  const Tensor aligned = weight.aligned();
  const auto values = aligned.data<float>();
  std::vector<float> rows(values.size());
  for_each_place(op, [&](size_t to, size_t from) { rows[to] = values[from]; });
  return rows;
}

std::vector<int8_t> in_weight_order(const passes::KernelOp& op, std::span<const int8_t> rows) {
  std::vector<int8_t> codes(rows.size());
  for_each_place(op, [&](size_t from, size_t to) { codes[to] = rows[from]; });
  return codes;
}

std::vector<int8_t> rows_of_codes(const KernelPlan& plan, const Tensor& weight) {
  return plan.codes.empty() ? quant::quantize(rows_of(plan.op, weight), *plan.blocks) : in_rows(plan.op, plan.codes);
}

std::vector<int8_t> in_rows(const passes::KernelOp& op, std::span<const int8_t> codes) {
  std::vector<int8_t> rows(codes.size());
  for_each_place(op, [&](size_t to, size_t from) { rows[to] = codes[from]; });
  return rows;
}

std::vector<int8_t> levels_of(const KernelPlan& plan, const Tensor& weight) {
  return in_weight_order(plan.op, quant::levels_of(rows_of_codes(plan, weight), *plan.blocks));
}

Tensor read_back(const KernelPlan& plan, const Tensor& weight) {
  const Tensor exact = weight.aligned();
  if (plan.table && plan.codes.empty()) return quant::dequantize(quant::quantize(exact, *plan.table), *plan.table);
  if (!plan.blocks) {
    if (plan.codes.empty()) return quant::dequantize(quant::quantize(exact, plan.rounding()), plan.weight);
    return quant::dequantize(Tensor::of<int8_t>(exact.shape(), plan.codes), plan.weight);
  }
  const std::vector<float> rows = quant::dequantize(rows_of_codes(plan, exact), *plan.blocks);
  Tensor values = Tensor::make(DType::kFloat32, exact.shape());
  const auto to = values.mutable_data<float>();
  for_each_place(plan.op, [&](size_t from, size_t at) { to[at] = rows[from]; });
  return values;
}

std::vector<int8_t> padded_rows(std::span<const int8_t> rows, const BlockParams& params) {
  const auto columns = static_cast<size_t>(params.columns), padded = static_cast<size_t>(params.blocks() * params.size);
  const size_t outputs = rows.size() / columns;
  std::vector<int8_t> filled(outputs * padded);
  for (size_t o = 0; o < outputs; ++o)
    for (size_t k = 0; k < padded; ++k)
      filled[o * padded + k] =
          k < columns
              ? rows[o * columns + k]
              : static_cast<int8_t>(params.zero_point[params.index(static_cast<int64_t>(o), params.columns - 1)]);
  return filled;
}

NBitsWeight nbits_weight(std::span<const int8_t> rows, const BlockParams& params) {
  NBitsWeight weight;
  weight.bits = params.grid.n_bits <= 2 ? 2 : params.grid.n_bits <= 4 ? 4 : 8;
  const auto bits = static_cast<size_t>(weight.bits);
  const int32_t half = 1 << (bits - 1);
  const auto code = [&](int32_t one) { return static_cast<uint32_t>(one + half); };
  const std::vector<int8_t> padded = padded_rows(rows, params);
  const int64_t blocks = params.blocks(), outputs = static_cast<int64_t>(rows.size()) / params.columns;
  weight.codes = Tensor::make(DType::kUint8, {outputs, blocks, params.size * weight.bits / 8});
  for (size_t k = 0; k < padded.size(); ++k) set_bits(weight.codes.mutable_bytes(), bits, k, code(padded[k]));
  weight.scales = Tensor::of<float>({outputs * blocks}, params.scale);
  if (!params.has_zero_points()) {
    weight.zero_points = Tensor::make(DType::kUint8, {0});
    return weight;
  }
  const int64_t row_bytes = (blocks * weight.bits + 7) / 8;
  weight.zero_points = Tensor::make(DType::kUint8, {outputs * row_bytes});
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t b = 0; b < blocks; ++b)
      set_bits(weight.zero_points.mutable_bytes().subspan(static_cast<size_t>(o * row_bytes)), bits,
               static_cast<size_t>(b), code(params.zero_point[static_cast<size_t>(o * blocks + b)]));
  return weight;
}

}  // namespace tersor::ptq
