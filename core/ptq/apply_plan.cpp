// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/apply_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "core/onnx/convert_opset.h"
#include "core/passes/edit.h"
#include "core/ptq/block_weight.h"
#include "core/ptq/guard_float_nodes.h"
#include "core/ptq/guard_kernels.h"
#include "core/ptq/guard_moved_quantizers.h"
#include "core/ptq/table_weight.h"
#include "core/quant/quantizer.h"

namespace tersor::ptq {

using quant::QuantizationParams;

namespace {

/// Lowest IR version for an operator set; newer ones are refused by older runtimes.
int64_t ir_version_for(int64_t opset) {
  return opset >= 21 ? 10 : opset >= 19 ? 9 : 8;
}

constexpr int64_t kOpsetOfSmallIntegers = 21;

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

/// Initializers that the tensors of an activation group share.
struct GroupParams {
  ValueId scale, zero_point;
  ValueId table;  // the nearest entry's code for each code; invalid without a table
};

/// Initializers of a weight that several kernels have.
struct StoredWeight {
  ValueId codes, scale, zero_point;
  std::vector<float> scales;
};

/// Initializers that the readers of one embedding share; by row, scales and zero points are columns of floats.
struct StoredTable {
  ValueId table;
  QuantizationParams params;
  ValueId codes, scale;
  ValueId zero_point;  // invalid where all rows' are zero
};

Tensor codes_of(const Tensor& values, const ConstantPlan& constant) {
  return constant.table ? entries_of(values, *constant.table) : quant::quantize(values, constant.params);
}

class Applier {
 public:
  Applier(const Model& model, const QuantizationPlan& plan)
      : model_(model), plan_(plan), captured_(passes::captured_values(model.graph)) {}

  Model apply() {
    if (needs_small_integers()) onnx::convert_to_opset(model_, kOpsetOfSmallIntegers);
    drop_plain_dilations();
    fold_clamps();
    for (const ConstantPlan& constant : plan_.constants)
      if (constant.tied) store_tied(constant);
    for (const KernelPlan& kernel : plan_.kernels) store_weight(kernel);
    for (const ConstantPlan& constant : plan_.constants)
      constant.by_row ? store_embedding(constant) : store_constant(constant);
    for (const ActivationPlan& activation : plan_.activations) insert_pair(activation);
    place_new_nodes();
    guard_moved_quantizers(graph(), model_.opset());
    guard_float_nodes(model_, softmaxes_in_float(), kernels_with_zero_points());
    guard_kernels(model_, kernels_with_float_results());
    make_names_unique();
    graph().erase_unused_initializers();
    model_.ir_version = std::max(model_.ir_version, ir_version_for(model_.opset()));
    return std::move(model_);
  }

 private:
  Graph& graph() { return model_.graph; }
  const std::string& name_of(ValueId id) { return graph().name_of(id); }
  /// Integers of 16 or 4 bits.
  bool needs_small_integers() const {
    return std::any_of(plan_.activations.begin(), plan_.activations.end(),
                       [](const ActivationPlan& one) { return bits_of(one.params.storage()) != 8; }) ||
           std::any_of(plan_.kernels.begin(), plan_.kernels.end(),
                       [this](const KernelPlan& one) {
                         if (one.table || folds(one)) return false;
                         return one.blocks || one.weight.grid.n_bits <= 4 || bits_of(one.weight.storage()) != 8;
                       }) ||
           std::any_of(plan_.constants.begin(), plan_.constants.end(), [](const ConstantPlan& one) {
             return !one.is_packed &&
                    ((!one.by_row && one.params.grid.n_bits <= 4) || bits_of(one.params.storage()) != 8);
           });
  }
  /// Float arithmetic reads the weight, which the runtime restores when it opens the file. A DequantizeLinear is
  /// computed in every run, and ONNX Runtime rounds the input of a MatMul after one to 8 bits.
  bool folds(const KernelPlan& kernel) const {
    return tpc::folds(plan_.float_weights) && kernel.in_float && !kernel.table && bits_of(kernel.weight.storage()) == 8;
  }
  bool folds_constants() const { return tpc::folds(plan_.float_weights); }
  bool multiplies_bits(const KernelPlan& kernel, const Node& node) const {
    return kernel.blocks && block_form(plan_, kernel, node) == BlockForm::kMatMulNBits;
  }
  /// MatMuls and Gemms that runtimes compute in integers, or with packed weights, and whose result is float.
  std::vector<NodeId> kernels_with_float_results() const {
    std::vector<NodeId> list;
    for (const NodeOutcome& outcome : plan_.outcomes)
      if (outcome.arithmetic == NodeOutcome::Arithmetic::kIntegerFloatOutput) list.push_back(outcome.node);
    for (const KernelPlan& kernel : plan_.kernels)
      if (!kernel.table && !folds(kernel) && weight_type(kernel.weight) == DType::kInt4) list.push_back(kernel.node);
    return list;
  }
  /// Runtimes would make integer kernels of these, which take one zero point for the whole weight.
  std::vector<NodeId> kernels_with_zero_points() const {
    std::vector<NodeId> list;
    for (const KernelPlan& kernel : plan_.kernels)
      if (kernel.has_zero_points() && !folds(kernel) && !kernel.blocks) list.push_back(kernel.node);
    return list;
  }
  std::vector<NodeId> softmaxes_in_float() const {
    std::vector<NodeId> list;
    for (const NodeOutcome& outcome : plan_.outcomes)
      if (outcome.arithmetic == NodeOutcome::Arithmetic::kFloat) list.push_back(outcome.node);
    std::erase_if(list, [this](NodeId id) {
      const Node* const node = model_.graph.find(id);
      return node == nullptr || !node->is("Softmax");
    });
    return list;
  }
  void drop_plain_dilations();
  void fold_clamps();
  void store_tied(const ConstantPlan& table);
  void store_weight(const KernelPlan& kernel);
  Tensor codes_of_weight(const KernelPlan& kernel, const Tensor& values) const;
  void store_constant(const ConstantPlan& constant);
  void store_embedding(const ConstantPlan& embedding);
  StoredTable stored_table(const ConstantPlan& embedding, ValueId table);
  Node restore(std::string name, Tensor codes, const QuantizationParams& params, ValueId output);
  Node restore_shared(const StoredWeight& known, const QuantizationParams& params, ValueId output);
  void look_up(std::string name, const Tensor& values, const quant::LutParams& table, ValueId output,
               std::vector<Node>& nodes);
  ValueId unpack(const std::string& name, PackedTable packed, const Shape& shape, std::vector<Node>& nodes);
  ValueId folded_codes(const std::string& name, const std::vector<int8_t>& codes, const quant::IntegerGrid& grid,
                       const Shape& shape, std::vector<Node>& nodes);
  void fold(const std::string& name, const Tensor& codes, const QuantizationParams& params, ValueId output,
            std::vector<Node>& nodes);
  void scale_codes(const std::string& name, ValueId value, int rank, const QuantizationParams& params, ValueId output,
                   std::vector<Node>& nodes);
  void fold_shared(const KernelPlan& kernel, const Tensor& values, ValueId output, std::vector<Node>& nodes);
  void fold_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                   std::vector<Node>& nodes);
  void restore_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                      std::vector<Node>& nodes);
  void multiply_bits(const KernelPlan& kernel, std::span<const int8_t> rows, Node& node);
  void store_blocks(const KernelPlan& kernel, const Tensor& values, Node& node);
  ValueId whole(const std::string& name, std::vector<int64_t> numbers) {
    const Shape one{static_cast<int64_t>(numbers.size())};
    return graph().add_initializer(name, Tensor::of<int64_t>(one, numbers));
  }
  void store_bias(const KernelPlan& kernel, Node& node);
  Node bound(const std::string& name, ValueId value, const QuantizationParams& params);
  Node bound_codes(const std::string& name, ValueId all, ValueId bounded, const QuantizationParams& params);
  void insert_pair(const ActivationPlan& activation);
  void place_new_nodes();
  void make_names_unique();
  Node pair_node(const std::string& type, const std::string& name, std::vector<ValueId> inputs, ValueId output);
  ValueId chain(std::vector<Node>& nodes, const std::string& type, const std::string& name, std::vector<ValueId> inputs,
                const std::string& result, DType dtype);
  ValueId scale_of(const std::string& stem, const QuantizationParams& params);
  ValueId zero_point_of(const std::string& stem, const QuantizationParams& params, DType type);
  /// Weights of 4 bits or fewer are packed where the operator set has such integers.
  DType weight_type(const QuantizationParams& params) const {
    return params.grid.is_signed && params.grid.n_bits <= 4 && model_.opset() >= kOpsetOfSmallIntegers
               ? DType::kInt4
               : params.storage();
  }

  Model model_;
  const QuantizationPlan& plan_;
  std::map<size_t, GroupParams> group_params_;
  std::vector<StoredTable> tables_;
  std::map<NodeId, ValueId> tied_;                // by kernel: the codes of the table whose rows are its channels
  std::map<NodeId, StoredWeight> weights_;        // by the first of the kernels that have it
  std::map<ValueId, std::vector<Node>> behind_;   // nodes to stand after a value's producer
  std::map<NodeId, std::vector<Node>> in_front_;  // nodes to stand before a node
  std::vector<bool> captured_;                    // by value: a subgraph reads it by its name
};

/// ONNX Runtime's integer AveragePool does not know the attribute, not even where it says nothing.
void Applier::drop_plain_dilations() {
  for (Node& node : graph().nodes())
    if (node.is("AveragePool") && !is_dilated(node)) node.attributes.erase("dilations");
}

void Applier::fold_clamps() {
  std::set<NodeId> folded(plan_.folded_clamps.begin(), plan_.folded_clamps.end());
  std::map<ValueId, std::pair<size_t, size_t>> producer;  // node and output position
  auto& nodes = graph().nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (folded.count(nodes[i].id) == 0) {
      for (size_t k = 0; k < nodes[i].outputs.size(); ++k) producer[nodes[i].outputs[k]] = {i, k};
      continue;
    }
    const auto [maker, position] = producer.at(nodes[i].inputs[0]);
    nodes[maker].outputs[position] = nodes[i].outputs[0];
    producer[nodes[i].outputs[0]] = {maker, position};
  }
  graph().erase_nodes([&](const Node& node) { return folded.count(node.id) != 0; });
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
  return graph().add_initializer(stem + "_scale", Tensor::of<float>(shape, params.scale));
}

ValueId Applier::zero_point_of(const std::string& stem, const QuantizationParams& params, DType type) {
  const auto count = static_cast<int64_t>(params.zero_point.size());
  const Shape shape = params.per_channel() ? Shape{count} : Shape{};
  return graph().add_initializer(stem + "_zero_point", integers(params.zero_point, type, shape));
}

/// The codes stored, and the DequantizeLinear that gives their values back as `output`.
Node Applier::restore(std::string name, Tensor codes, const QuantizationParams& params, ValueId output) {
  const DType type = weight_type(params);
  if (type == DType::kInt4) codes = stored_codes(codes.data<int8_t>(), type, codes.shape());
  const ValueId stored = graph().add_initializer(name + "_quantized", std::move(codes));
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
  const ValueId rows = graph().add_initializer(name + "_table", std::move(packed.rows));
  ValueId value = graph().add_initializer(name + "_packed", std::move(packed.bytes));
  value = then("Cast", "_indices", {value}, DType::kInt32);
  value = then("Gather", "_entries", {rows, value}, entry);
  if (stored != shape.elements()) {  // the last byte holds more than there is
    value = then("Reshape", "_line", {value, whole(name + "_all", {-1})}, entry);
    value =
        then("Slice", "_used", {value, whole(name + "_first", {0}), whole(name + "_end", {shape.elements()})}, entry);
  }
  value = then("Reshape", "_shaped", {value, whole(name + "_shape", shape.dims())}, entry);
  return then("Cast", "_places", {value}, DType::kFloat32);
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
  nodes.push_back(pair_node("Mul", name, {value, graph().add_initializer(name + "_scale", std::move(scale))}, output));
}

/// Codes as floats: packed where several fit into a byte, which takes no operator set of small integers.
ValueId Applier::folded_codes(const std::string& name, const std::vector<int8_t>& codes, const quant::IntegerGrid& grid,
                              const Shape& shape, std::vector<Node>& nodes) {
  constexpr int kMostPackedBits = 4;
  if (grid.n_bits <= kMostPackedBits) return unpack(name, pack(codes, grid.q_min(), grid.q_max()), shape, nodes);
  const ValueId stored = graph().add_initializer(name + "_quantized", Tensor::of<int8_t>(shape, codes));
  return chain(nodes, "Cast", name + "_places", {stored}, name + "_places", DType::kFloat32);
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
    const ValueId zero_point = graph().add_initializer(name + "_zero_point", Tensor::of<float>(Shape(dims), zeros));
    value = chain(nodes, "Sub", name, {value, zero_point}, name + "_steps", DType::kFloat32);
  }
  const ValueId scale = graph().add_initializer(name + "_scale", Tensor::of<float>(Shape(dims), params.scale));
  nodes.push_back(pair_node("Mul", name, {value, scale}, output));
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
      codes = chain(nodes, "Transpose", name, {codes}, name + "_quantized", kernel.weight.storage());
      nodes.back().attributes["perm"] = std::vector<int64_t>{1, 0};
    }
    codes = chain(nodes, "Cast", name + "_places", {codes}, name + "_places", DType::kFloat32);
  } else if (!codes.valid()) {
    const Tensor own = codes_of_weight(kernel, values);
    const auto span = own.data<int8_t>();
    codes = folded_codes(name, {span.begin(), span.end()}, kernel.weight.grid, own.shape(), nodes);
  }
  weights_[kernel.node] = {codes, {}, {}, kernel.weight.scale};
  scale_codes(name, codes, values.shape().rank(), kernel.weight, output, nodes);
}

/// The same of blocks, whose rows are filled up to whole blocks: [outputs, blocks, size] times [outputs, blocks, 1].
void Applier::fold_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                          std::vector<Node>& nodes) {
  const quant::BlockParams& params = *kernel.blocks;
  const passes::KernelOp& op = kernel.op;
  const std::string name = name_of(output);
  const Shape each{op.outputs, params.blocks(), 1};
  const auto then = [&](const char* type, const char* part, std::vector<ValueId> inputs) {
    return chain(nodes, type, name + part, std::move(inputs), name + part, DType::kFloat32);
  };
  ValueId value = folded_codes(name, padded_rows(rows, params), params.grid,
                               Shape{op.outputs, params.blocks(), params.size}, nodes);
  if (params.has_zero_points()) {
    const std::vector<int8_t> zeros(params.zero_point.begin(), params.zero_point.end());
    value = then("Sub", "_steps", {value, folded_codes(name + "_zero_point", zeros, params.grid, each, nodes)});
  }
  value =
      then("Mul", "_blocks", {value, graph().add_initializer(name + "_scale", Tensor::of<float>(each, params.scale))});
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
  const ValueId codes =
      graph().add_initializer(name + "_quantized", stored_codes(in_weight_order(op, rows), type, matrix));
  const auto turned = [&](const auto& numbers) {
    using Number = typename std::decay_t<decltype(numbers)>::value_type;
    return rows_first ? numbers : by_block_first<Number>(numbers, params.blocks());
  };
  const ValueId scale = graph().add_initializer(name + "_scale", Tensor::of<float>(grid, turned(params.scale)));
  const ValueId zero_point =
      graph().add_initializer(name + "_zero_point", integers(turned(params.zero_point), type, grid));
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
  constexpr int64_t kFloatSums = 1, kSumsOf8Bits = 4;
  const quant::BlockParams& params = *kernel.blocks;
  const std::string name = name_of(kernel.op.weight);
  NBitsWeight weight = nbits_weight(rows, params);
  Node product = pair_node("MatMulNBits", name, {node.inputs[0]}, node.outputs[0]);
  product.domain = "com.microsoft";
  product.attributes["K"] = params.columns;
  product.attributes["N"] = kernel.op.outputs;
  product.attributes["bits"] = weight.bits;
  product.attributes["block_size"] = params.size;
  product.attributes["accuracy_level"] = plan_.prefers_speed ? kSumsOf8Bits : kFloatSums;
  product.inputs.push_back(graph().add_initializer(name + "_quantized", std::move(weight.codes)));
  product.inputs.push_back(graph().add_initializer(name + "_scale", std::move(weight.scales)));
  if (weight.zero_points.elements() > 0)
    product.inputs.push_back(graph().add_initializer(name + "_zero_point", std::move(weight.zero_points)));
  auto& imports = model_.opset_imports;
  if (std::none_of(imports.begin(), imports.end(), [](const auto& one) { return one.domain == "com.microsoft"; }))
    imports.push_back({"com.microsoft", 1});
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
  in_front_[kernel.node].push_back(std::move(product));
}

void Applier::store_blocks(const KernelPlan& kernel, const Tensor& values, Node& node) {
  const std::vector<int8_t> rows = kernel.codes.empty() ? quant::quantize(rows_of(kernel.op, values), *kernel.blocks)
                                                        : in_rows(kernel.op, kernel.codes);
  const ValueId weight = kernel.op.weight;
  std::vector<Node>& in_front = in_front_[kernel.node];
  if (multiplies_bits(kernel, node))
    multiply_bits(kernel, rows, node);
  else if (folds(kernel))
    fold_blocks(kernel, rows, values.shape(), weight, in_front);
  else
    restore_blocks(kernel, rows, values.shape(), weight, in_front);
}

/// The codes of a table, which a kernel has too.
void Applier::store_tied(const ConstantPlan& table) {
  if (tied_.count(*table.tied) != 0) return;
  const ValueId value = graph().find(table.node)->inputs[table.input];
  QuantizationParams params = plan_.find(*table.tied)->rounding();
  if (params.per_channel()) params.channel_axis = 0;
  tied_[*table.tied] = graph().add_initializer(name_of(value) + "_quantized",
                                               quant::quantize(graph().initializer(value)->aligned(), params));
}

Tensor Applier::codes_of_weight(const KernelPlan& kernel, const Tensor& values) const {
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
  std::vector<Node>& in_front = in_front_[kernel.node];
  const bool has_own_bias = multiplies_bits(kernel, node);
  const auto known = kernel.shared ? weights_.find(*kernel.shared) : weights_.end();
  const auto tied = tied_.find(kernel.node);
  const std::string name = name_of(weight);
  if (kernel.is_packed) {
    look_up(name, kernel.codes.empty() ? values : read_back(kernel, values), *kernel.table, weight, in_front);
  } else if (kernel.blocks) {
    store_blocks(kernel, values, node);
  } else if (folds(kernel) && kernel.shared) {
    fold_shared(kernel, values, weight, in_front);
  } else if (folds(kernel)) {
    fold(name, codes_of_weight(kernel, values), kernel.weight, weight, in_front);
  } else if (known != weights_.end()) {
    in_front.push_back(restore_shared(known->second, kernel.weight, weight));
  } else if (tied != tied_.end()) {
    StoredWeight stored{tied->second, scale_of(name, kernel.weight),
                        zero_point_of(name, kernel.weight, kernel.weight.storage()), kernel.weight.scale};
    // Runtimes transpose a constant when the model is loaded.
    if (kernel.op.output_axis == 1) {
      stored.codes = chain(in_front, "Transpose", name, {stored.codes}, name + "_quantized", kernel.weight.storage());
      in_front.back().attributes["perm"] = std::vector<int64_t>{1, 0};
    }
    in_front.push_back(restore_shared(stored, kernel.weight, weight));
    weights_[kernel.node] = std::move(stored);
  } else {
    in_front.push_back(restore(name, codes_of_weight(kernel, values), kernel.weight, weight));
    const std::vector<ValueId>& stored = in_front.back().inputs;
    if (kernel.shared) weights_[kernel.node] = {stored[0], stored[1], stored[2], kernel.weight.scale};
  }
  if (!kernel.bias.empty() && !has_own_bias) store_bias(kernel, node);
}

/// Other nodes may read the constant, so it stays, and goes when none does.
void Applier::store_constant(const ConstantPlan& constant) {
  Node& node = *graph().find(constant.node);
  const ValueId value = node.inputs[constant.input];
  const ValueId restored = graph().add_unique_value(name_of(value) + "_DequantizeLinear_Output", DType::kFloat32);
  const Tensor values = graph().initializer(value)->aligned();
  node.inputs[constant.input] = restored;
  std::vector<Node>& in_front = in_front_[constant.node];
  const QuantizationParams& params = constant.params;
  if (constant.is_packed)
    look_up(name_of(value), values, *constant.table, restored, in_front);
  else if (constant.tied)
    in_front.push_back(restore_shared({tied_.at(*constant.tied), scale_of(name_of(value), params),
                                       zero_point_of(name_of(value), params, params.storage()), params.scale},
                                      params, restored));
  else if (folds_constants() && !constant.table && params.storage() == DType::kInt8)
    fold(std::string(name_of(value)), codes_of(values, constant), params, restored, in_front);
  else
    in_front.push_back(restore(name_of(value), codes_of(values, constant), constant.params, restored));
}

/// Runtimes would restore the whole table in each run, were it a DequantizeLinear before the Gather. So the codes
/// are gathered, and the node that was the Gather scales them.
void Applier::store_embedding(const ConstantPlan& embedding) {
  Node& node = *graph().find(embedding.node);
  const QuantizationParams& params = embedding.params;
  const std::string name = name_of(node.inputs[0]);
  const ValueId rows = node.inputs[1];
  const StoredTable table = stored_table(embedding, node.inputs[0]);
  std::vector<Node>& in_front = in_front_[node.id];
  const auto gather = [&](const char* part, ValueId stored, DType dtype) {
    return chain(in_front, "Gather", name + part, {stored, rows}, name + part + "_rows", dtype);
  };
  const ValueId codes = gather("_quantized", table.codes, params.storage());
  node.attributes.erase("axis");
  if (!params.per_channel()) {
    node.op_type = "DequantizeLinear";
    node.inputs = {codes, table.scale, table.zero_point};
    return;
  }
  ValueId value = chain(in_front, "Cast", name, {codes}, name + "_Cast_Output", DType::kFloat32);
  if (table.zero_point.valid())
    value = chain(in_front, "Sub", name, {value, gather("_zero_point", table.zero_point, DType::kFloat32)},
                  name + "_Sub_Output", DType::kFloat32);
  node.op_type = "Mul";
  node.inputs = {value, gather("_scale", table.scale, DType::kFloat32)};
}

/// Several Gathers may read one table, an encoder's and a decoder's say; it is stored once.
StoredTable Applier::stored_table(const ConstantPlan& embedding, ValueId table) {
  const QuantizationParams& params = embedding.params;
  for (const StoredTable& known : tables_)
    if (known.table == table && known.params == params) return known;
  StoredTable& stored = tables_.emplace_back(StoredTable{table, params, {}, {}, {}});
  const std::string name = name_of(table);
  const auto column = [&](const char* part, auto begin, auto end) {
    const Shape shape{static_cast<int64_t>(end - begin), 1};
    return graph().add_initializer(name + part, Tensor::of<float>(shape, std::vector<float>(begin, end)));
  };
  stored.codes = embedding.tied ? tied_.at(*embedding.tied)
                                : graph().add_initializer(name + "_quantized",
                                                          codes_of(graph().initializer(table)->aligned(), embedding));
  if (!params.per_channel()) {
    stored.scale = scale_of(name, params);
    stored.zero_point = zero_point_of(name, params, params.storage());
    return stored;
  }
  stored.scale = column("_scale", params.scale.begin(), params.scale.end());
  const std::vector<int32_t>& zeros = params.zero_point;
  if (std::any_of(zeros.begin(), zeros.end(), [](int32_t zero) { return zero != 0; }))
    stored.zero_point = column("_zero_point", zeros.begin(), zeros.end());
  return stored;
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
  const ValueId stored = graph().add_initializer(name + "_quantized", Tensor::of<int32_t>(Shape{count}, codes));
  const ValueId scales = graph().add_initializer(
      name + "_scale", Tensor::of<float>(per_channel ? Shape{static_cast<int64_t>(scale.size())} : Shape{}, scale));
  // No zero point: some runtimes refuse one of type int32.
  Node restore = pair_node("DequantizeLinear", name, {stored, scales}, bias);
  if (per_channel) restore.attributes["axis"] = int64_t{0};
  graph().erase_initializer(bias);
  in_front_[kernel.node].push_back(std::move(restore));
}

/// A Clip of codes of 8 bits to those of the grid. It stands after the QuantizeLinear, so that integer kernels end in
/// that, and their sums are exact.
Node Applier::bound_codes(const std::string& name, ValueId all, ValueId bounded, const QuantizationParams& params) {
  const auto constant = [&](const char* part, int32_t code) {
    return graph().add_initializer(name + part, params.storage() == DType::kUint8
                                                    ? Tensor::scalar(static_cast<uint8_t>(code))
                                                    : Tensor::scalar(static_cast<int8_t>(code)));
  };
  const ValueId low = constant("_lowest", params.grid.q_min()), high = constant("_highest", params.grid.q_max());
  return pair_node("Clip", name, {all, low, high}, bounded);
}

/// A Clip to what the grid's integers stand for, of which the type that holds them has more; for types whose codes
/// runtimes do not clip.
Node Applier::bound(const std::string& name, ValueId value, const QuantizationParams& params) {
  const quant::Range range = params.representable();
  const auto constant = [&](const char* part, double number) {
    return graph().add_initializer(name + part, Tensor::of<float>(Shape{}, {static_cast<float>(number)}));
  };
  const ValueId low = constant("_low", range.low), high = constant("_high", range.high);
  return pair_node("Clip", name, {value, low, high}, graph().add_unique_value(name + "_Clip_Output", DType::kFloat32));
}

void Applier::insert_pair(const ActivationPlan& activation) {
  const ValueId value = activation.tensor.value;
  const std::string name = name_of(value);
  auto [shared, is_new] = group_params_.try_emplace(activation.tensor.group);
  if (is_new) {
    const QuantizationParams& params = activation.params;
    shared->second = {scale_of(name, params), zero_point_of(name, params, params.storage()), {}};
    if (activation.table)
      shared->second.table = graph().add_initializer(
          name + "_table",
          Tensor::of<uint8_t>(Shape{256}, quant::nearest_codes(*activation.table, params.zero_point[0])));
  }
  const auto [scale, zero_point, table] = shared->second;
  const ValueId codes = graph().add_unique_value(name + "_quantized", activation.params.storage());
  ValueId source = value, restored;
  const bool keeps_name =
      activation.tensor.integer_made && (std::count(graph().outputs.begin(), graph().outputs.end(), value) != 0 ||
                                         captured_[static_cast<size_t>(value.index)]);
  const bool is_input = std::count(graph().inputs.begin(), graph().inputs.end(), value) != 0;
  if (keeps_name && !is_input) {
    source = graph().add_unique_value(name + "_QuantizeLinear_Input", DType::kFloat32);
    restored = value;
    for (Node& node : graph().nodes())
      for (ValueId& id : node.outputs)
        if (id == value) id = source;
  } else {
    restored = graph().add_unique_value(name + "_DequantizeLinear_Output", DType::kFloat32);
    for (Node& node : graph().nodes()) {
      const bool is_kernel = plan_.reads_quantized(node.id);
      if (activation.tensor.integer_made || is_kernel)
        for (ValueId& id : node.inputs)
          if (id == value) id = restored;
    }
  }
  std::vector<Node>& behind = behind_[source];
  const DType storage = activation.params.storage();
  const bool is_bounded = activation.params.grid.n_bits != bits_of(storage);
  if (is_bounded && bits_of(storage) == 8) {
    const ValueId all = graph().add_unique_value(name + "_quantized_unbounded", storage);
    behind.push_back(pair_node("QuantizeLinear", name, {source, scale, zero_point}, all));
    behind.push_back(bound_codes(name, all, codes, activation.params));
  } else {
    if (is_bounded) {
      behind.push_back(bound(name, source, activation.params));
      source = behind.back().outputs[0];
    }
    behind.push_back(pair_node("QuantizeLinear", name, {source, scale, zero_point}, codes));
  }
  ValueId kept = codes;
  if (table.valid() && !activation.is_looked_up) {
    const ValueId index = graph().add_unique_value(name + "_index", DType::kInt32);
    kept = graph().add_unique_value(name + "_nearest", DType::kUint8);
    behind.push_back(pair_node("Cast", name, {codes}, index));
    behind.back().attributes["to"] = static_cast<int64_t>(DType::kInt32);
    behind.push_back(pair_node("Gather", name, {table, index}, kept));
  }
  behind.push_back(pair_node("DequantizeLinear", name, {kept, scale, zero_point}, restored));
}

void Applier::place_new_nodes() {
  std::vector<Node> old = std::move(graph().nodes());
  graph().nodes().clear();
  const auto append_behind = [this](ValueId value) {
    const auto found = behind_.find(value);
    if (found == behind_.end()) return;
    for (Node& node : found->second) graph().append(std::move(node));
  };
  for (const ValueId input : graph().inputs) append_behind(input);
  for (Node& node : old) {
    const std::vector<ValueId> outputs = node.outputs;
    if (const auto found = in_front_.find(node.id); found != in_front_.end())
      for (Node& restore : found->second) graph().append(std::move(restore));
    graph().nodes().push_back(std::move(node));
    for (const ValueId output : outputs) append_behind(output);
  }
}

/// Runtimes refuse two nodes of one name, and nodes are named after what they restore, which several may read. Nodes
/// without a name get that of their output: ONNX Runtime 1.19 to 1.21 name what they make of such nodes all alike.
void Applier::make_names_unique() {
  for (Node& node : graph().nodes())
    for (const ValueId output : node.outputs)
      if (node.name.empty() && output.valid()) node.name = name_of(output);
  std::set<std::string> taken;
  for (const Node& node : graph().nodes()) taken.insert(node.name);
  std::set<std::string> seen;
  for (Node& node : graph().nodes()) {
    if (node.name.empty() || seen.insert(node.name).second) continue;
    const std::string stem = node.name;
    for (int k = 2; !taken.insert(node.name).second; ++k) node.name = stem + "_" + std::to_string(k);
    seen.insert(node.name);
  }
}

}  // namespace

Model apply_restored(const Model& model, QuantizationPlan plan) {
  plan.float_weights = tpc::FloatWeights::kDequantize;
  for (KernelPlan& kernel : plan.kernels)
    if (kernel.table && bits_of(kernel.weight.storage()) == 8) kernel.is_packed = false;
  return apply_plan(model, plan);
}

Tensor stored_codes(std::span<const int8_t> codes, DType type, const Shape& shape) {
  if (type != DType::kInt4) return Tensor::of<int8_t>(shape, codes);
  return integers(std::vector<int32_t>(codes.begin(), codes.end()), type, shape);
}

Model apply_plan(const Model& model, const QuantizationPlan& plan) {
  return Applier(model, plan).apply();
}

}  // namespace tersor::ptq
