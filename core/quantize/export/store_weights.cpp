// SPDX-License-Identifier: Apache-2.0
// Stores the weight and the bias of a kernel.
#include <algorithm>

#include "core/choose/block_weight.h"
#include "core/export/added_names.h"
#include "core/export/applier.h"
#include "core/passes/edit.h"
#include "core/quant/quantizer.h"
#include "core/tensor/float16.h"

namespace tersor::ptq {

namespace {

/// With levels: the numbers that differences from zero points are multiplied by are what is stored as scales.
quant::BlockParams with_stored_scales(quant::BlockParams params) {
  if (!params.has_levels()) return params;
  std::vector<float> ratios;
  for (size_t k = 0; k < params.scale.size(); ++k) ratios.push_back(params.ratio(k));
  params.scale = std::move(ratios);
  params.half_scales = true;
  return params;
}

}  // namespace

Tensor Applier::codes_of_weight(const KernelPlan& kernel, const Tensor& values) const {
  if (kernel.has_levels()) return Tensor::of<int8_t>(values.shape(), levels_of(kernel, values));
  if (!kernel.codes.empty()) return Tensor::of<int8_t>(values.shape(), kernel.codes);
  if (kernel.table) return entries_of(values, *kernel.table);
  return quant::quantize(values.aligned(), kernel.rounding());
}

/// The weight's name passes to the DequantizeLinear that restores it, so the kernel goes on reading it.
void Applier::store_weight(const KernelPlan& kernel) {
  Node& node = *graph().find(kernel.node);
  const ValueId weight = node.inputs[kernel.op.weight_slot];
  const Tensor values = *graph().initializer(weight);
  graph().erase_initializer(weight);
  std::vector<Node>& before = before_[kernel.node];
  const bool has_own_bias = multiplies_bits(kernel, node);
  const auto known = kernel.shared ? weights_.find(*kernel.shared) : weights_.end();
  const auto tied = tied_.find(kernel.node);
  const std::string name = name_of(weight);
  if (kernel.is_packed) {
    look_up(name, kernel.codes.empty() ? values : read_back(kernel, values), *kernel.table, weight, before);
  } else if (kernel.has_levels() && folds_constants()) {
    store_levels(kernel, values, weight, before);
  } else if (kernel.blocks && !kernel.has_levels()) {
    store_blocks(kernel, values, node);
  } else if (folds(kernel) && kernel.shared) {
    fold_shared(kernel, values, weight, before);
  } else if (folds(kernel)) {
    fold(name, codes_of_weight(kernel, values), kernel.weight, weight, before);
  } else if (known != weights_.end()) {
    before.push_back(restore_shared(known->second, kernel.weight, weight));
  } else if (tied != tied_.end()) {
    StoredWeight stored{tied->second, scale_of(name, kernel.weight),
                        zero_point_of(name, kernel.weight, kernel.weight.storage()), kernel.weight.scale};
    // Runtimes transpose a constant when the model is loaded.
    if (kernel.op.output_axis == 1) {
      stored.codes = chain(before, "Transpose", name, {stored.codes}, name + kCodes, kernel.weight.storage());
      before.back().attributes["perm"] = std::vector<int64_t>{1, 0};
    }
    before.push_back(restore_shared(stored, kernel.weight, weight));
    weights_[kernel.node] = std::move(stored);
  } else {
    before.push_back(restore(name, codes_of_weight(kernel, values), kernel.weight, weight));
    const std::vector<ValueId>& stored = before.back().inputs;
    if (kernel.shared) weights_[kernel.node] = {stored[0], stored[1], stored[2], kernel.weight.scale};
  }
  if (!kernel.bias.empty() && !has_own_bias) store_bias(kernel, node);
}

/// A weight whose codes others have as well: the kernels before it, or a table.
void Applier::fold_shared(const KernelPlan& kernel, const Tensor& values, ValueId output, std::vector<Node>& nodes) {
  const std::string name = name_of(output);
  const auto known = weights_.find(*kernel.shared);
  const auto tied = tied_.find(kernel.node);
  ValueId codes = known != weights_.end() ? known->second.codes : ValueId{};
  if (!codes.valid() && tied != tied_.end()) {
    codes = tied->second;
    if (kernel.op.output_axis == 1) {
      codes = chain(nodes, "Transpose", name, {codes}, name + kCodes, kernel.weight.storage());
      nodes.back().attributes["perm"] = std::vector<int64_t>{1, 0};
    }
    codes = chain(nodes, "Cast", name + kPlaces, {codes}, name + kPlaces, DType::kFloat32);
  } else if (!codes.valid()) {
    const Tensor own = codes_of_weight(kernel, values);
    const auto span = own.data<int8_t>();
    codes = folded_codes(name, {span.begin(), span.end()}, kernel.weight.grid, own.shape(), nodes);
  }
  weights_[kernel.node] = {codes, {}, {}, kernel.weight.scale};
  scale_codes(name, codes, values.shape().rank(), kernel.weight, output, nodes);
}

/// Codes, and the nodes that make levels of them when the file is opened. A DequantizeLinear restores the levels, so
/// that runtimes find what their integer kernels read.
void Applier::store_levels(const KernelPlan& kernel, const Tensor& values, ValueId output, std::vector<Node>& nodes) {
  const std::string name = name_of(output);
  const ValueId levels = graph().add_unique_value(name + kCodes, DType::kInt8);
  fold_blocks(kernel, rows_of_codes(kernel, values), values.shape(), levels, nodes);
  Node node = pair_node(
      "DequantizeLinear", name,
      {levels, scale_of(name, kernel.weight), zero_point_of(name, kernel.weight, kernel.weight.storage())}, output);
  node.attributes["axis"] = static_cast<int64_t>(*kernel.weight.channel_axis);
  nodes.push_back(std::move(node));
}

/// The same of blocks, whose rows are filled up to whole blocks: [outputs, blocks, size] times [outputs, blocks, 1].
/// Levels are rounded to int8.
void Applier::fold_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                          std::vector<Node>& nodes) {
  const quant::BlockParams& params = *kernel.blocks;
  const passes::KernelOp& op = kernel.op;
  const std::string name = name_of(output);
  const Shape each{op.outputs, params.blocks(), 1};
  DType type_now = DType::kFloat32;
  const auto then = [&](const char* type, const char* part, std::vector<ValueId> inputs) {
    return chain(nodes, type, name + part, std::move(inputs), name + part, type_now);
  };
  ValueId value = folded_codes(name, padded_rows(rows, params), params.grid,
                               Shape{op.outputs, params.blocks(), params.size}, nodes);
  if (params.has_zero_points()) {
    const std::vector<int8_t> zeros(params.zero_point.begin(), params.zero_point.end());
    value = then("Sub", "_steps", {value, folded_codes(name + kZeroPoint, zeros, params.grid, each, nodes)});
  }
  value = then("Mul", "_blocks", {value, scales_of_blocks(name, with_stored_scales(params), each, nodes)});
  if (params.has_levels()) {
    value = then("Round", "_nearest", {value});
    type_now = DType::kInt8;
    value = then("Cast", "_levels", {value});
  }
  const int64_t padded = params.blocks() * params.size;
  if (padded != params.columns) {
    value = then("Reshape", "_padded", {value, whole(name + "_padded_shape", {op.outputs, padded})});
    value = then(
        "Slice", "_rows",
        {value, whole(name + "_begin", {0}), whole(name + "_columns", {params.columns}), whole(name + "_axis", {1})});
  }
  if (op.is_conv || op.output_axis == 0) {
    nodes.push_back(pair_node("Reshape", name, {value, whole(name + "_weight_shape", shape.dims())}, output));
    return;
  }
  value = then("Reshape", "_turned", {value, whole(name + "_turned_shape", {op.outputs, params.columns})});
  nodes.push_back(pair_node("Transpose", name, {value}, output));
  nodes.back().attributes["perm"] = std::vector<int64_t>{1, 0};
}

/// A DequantizeLinear with block_size, of a matrix.
void Applier::restore_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                             std::vector<Node>& nodes) {
  const quant::BlockParams& params = *kernel.blocks;
  const passes::KernelOp& op = kernel.op;
  const std::string name = name_of(output);
  const bool rows_first = op.is_conv || op.output_axis == 0;
  const Shape matrix = rows_first ? Shape{op.outputs, params.columns} : Shape{params.columns, op.outputs};
  const Shape grid = rows_first ? Shape{op.outputs, params.blocks()} : Shape{params.blocks(), op.outputs};
  const DType type = params.grid.n_bits <= 4 ? DType::kInt4 : DType::kInt8;
  const ValueId codes = graph().add_initializer(name + kCodes, stored_codes(in_weight_order(op, rows), type, matrix));
  const auto turned = [&](const auto& numbers) {
    using Number = typename std::decay_t<decltype(numbers)>::value_type;
    return rows_first ? numbers : by_block_first<Number>(numbers, params.blocks());
  };
  const ValueId scale = graph().add_initializer(name + kScale, Tensor::of<float>(grid, turned(params.scale)));
  const ValueId zero_point =
      graph().add_initializer(name + kZeroPoint, integers(turned(params.zero_point), type, grid));
  const bool is_matrix = matrix == shape;
  const ValueId restored = is_matrix ? output : graph().add_unique_value(name + "_matrix", DType::kFloat32);
  nodes.push_back(pair_node("DequantizeLinear", name, {codes, scale, zero_point}, restored));
  nodes.back().attributes["axis"] = int64_t{rows_first ? 1 : 0};
  nodes.back().attributes["block_size"] = params.size;
  if (!is_matrix)
    nodes.push_back(pair_node("Reshape", name, {restored, whole(name + "_weight_shape", shape.dims())}, output));
}

/// The product itself is com.microsoft MatMulNBits; where there is a bias the node becomes the Add of it.
void Applier::multiply_bits(const KernelPlan& kernel, std::span<const int8_t> rows, Node& node) {
  const quant::BlockParams& params = *kernel.blocks;
  const std::string name = name_of(kernel.op.weight);
  NBitsWeight weight = nbits_weight(rows, params);
  Node product = pair_node("MatMulNBits", name, {node.inputs[0]}, node.outputs[0]);
  product.domain = "com.microsoft";
  product.attributes["K"] = params.columns;
  product.attributes["N"] = kernel.op.outputs;
  product.attributes["bits"] = weight.bits;
  product.attributes["block_size"] = params.size;
  product.attributes["accuracy_level"] = static_cast<int64_t>(plan_.accuracy_level);
  product.inputs.push_back(graph().add_initializer(name + kCodes, std::move(weight.codes)));
  product.inputs.push_back(scales_of_blocks(name, params, weight.scales.shape(), before_[kernel.node]));
  if (weight.zero_points.elements() > 0)
    product.inputs.push_back(graph().add_initializer(name + kZeroPoint, std::move(weight.zero_points)));
  import_microsoft();
  ValueId bias = kernel.op.bias;
  if (!kernel.bias.empty())
    bias = graph().add_initializer(name + "_bias", passes::from_doubles(kernel.bias, Shape{kernel.op.outputs}));
  if (!bias.valid()) {
    node.op_type = product.op_type;
    node.domain = product.domain;
    node.attributes = std::move(product.attributes);
    node.inputs = std::move(product.inputs);
    return;
  }
  product.outputs = {graph().add_unique_value(name + "_product", DType::kFloat32)};
  node.op_type = "Add";
  node.attributes = {};
  node.inputs = {product.outputs[0], bias};
  before_[kernel.node].push_back(std::move(product));
}

/// The scales in float16 and a Cast where that type has all of them and the platform wants it so.
ValueId Applier::scales_of_blocks(const std::string& stem, const quant::BlockParams& params, const Shape& shape,
                                  std::vector<Node>& nodes) {
  const bool in_half = params.half_scales && std::all_of(params.scale.begin(), params.scale.end(), [](float scale) {
                         return float_from_half(half_from_float(scale)) == scale;
                       });
  if (!in_half) return graph().add_initializer(stem + kScale, Tensor::of<float>(shape, params.scale));
  Tensor halves = Tensor::make(DType::kFloat16, shape);
  for (size_t k = 0; k < params.scale.size(); ++k) {
    const uint16_t half = half_from_float(params.scale[k]);
    halves.mutable_bytes()[2 * k] = static_cast<std::byte>(half & 255);
    halves.mutable_bytes()[2 * k + 1] = static_cast<std::byte>(half >> 8);
  }
  const ValueId stored = graph().add_initializer(stem + kScale, std::move(halves));
  return chain(nodes, "Cast", stem + kScale, {stored}, stem + kScale + "_wide", DType::kFloat32);
}

void Applier::import_microsoft() {
  auto& imports = model_.opset_imports;
  if (std::none_of(imports.begin(), imports.end(), [](const auto& one) { return one.domain == "com.microsoft"; }))
    imports.push_back({"com.microsoft", 1});
}

void Applier::store_blocks(const KernelPlan& kernel, const Tensor& values, Node& node) {
  const std::vector<int8_t> rows = kernel.codes.empty() ? quant::quantize(rows_of(kernel.op, values), *kernel.blocks)
                                                        : in_rows(kernel.op, kernel.codes);
  const ValueId weight = kernel.op.weight;
  std::vector<Node>& before = before_[kernel.node];
  if (multiplies_bits(kernel, node))
    multiply_bits(kernel, rows, node);
  else if (folds(kernel))
    fold_blocks(kernel, rows, values.shape(), weight, before);
  else
    restore_blocks(kernel, rows, values.shape(), weight, before);
}

void Applier::store_bias(const KernelPlan& kernel, Node& node) {
  const size_t slot = kernel.op.bias_slot;
  if (node.inputs.size() <= slot) node.inputs.resize(slot + 1);
  if (!node.inputs[slot].valid()) node.inputs[slot] = graph().add_unique_value(name_of(kernel.op.weight) + "_bias");
  const ValueId bias = node.inputs[slot];
  const auto count = static_cast<int64_t>(kernel.bias.size());
  if (!kernel.integer_bias) {
    graph().set_initializer(bias, passes::from_doubles(kernel.bias, Shape{count}));
    return;
  }
  const std::string name = name_of(bias);
  const bool per_channel = kernel.weight.per_channel();
  std::vector<float> scale;
  for (size_t o = 0; o < (per_channel ? kernel.bias.size() : 1); ++o)
    scale.push_back(*kernel.input_scale * kernel.weight.scale[kernel.scale_index(o)]);
  std::vector<int32_t> codes;
  for (size_t o = 0; o < kernel.bias.size(); ++o) {
    const double step = scale[per_channel ? o : 0];
    const double value = round_half_even(kernel.bias[o] / step);
    TERSOR_CHECK(value >= -2147483648.0 && value <= 2147483647.0);
    codes.push_back(static_cast<int32_t>(value));
  }
  const ValueId stored = graph().add_initializer(name + kCodes, Tensor::of<int32_t>(Shape{count}, codes));
  const ValueId scales = graph().add_initializer(
      name + kScale, Tensor::of<float>(per_channel ? Shape{static_cast<int64_t>(scale.size())} : Shape{}, scale));
  // No zero point: some runtimes refuse one of type int32.
  Node restore = pair_node("DequantizeLinear", name, {stored, scales}, bias);
  if (per_channel) restore.attributes["axis"] = int64_t{0};
  graph().erase_initializer(bias);
  before_[kernel.node].push_back(std::move(restore));
}

}  // namespace tersor::ptq
