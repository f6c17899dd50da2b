// SPDX-License-Identifier: Apache-2.0
// Builds the quantized model of a plan. The implementation has four parts: the order and names of nodes
// (apply_plan.cpp), nodes that restore stored codes (restoring_nodes.cpp), weights and biases (store_weights.cpp), and
// constants (store_constants.cpp).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/choose/table_weight.h"
#include "core/export/added_names.h"
#include "core/export/apply_plan.h"
#include "core/export/pack_codes.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

using quant::QuantizationParams;

/// The first operator set that has 16-bit and 4-bit integers in QuantizeLinear and DequantizeLinear.
inline constexpr int64_t kOpsetOfSmallIntegers = 21;

/// Converts integers to a tensor of a 4-bit, 8-bit or 16-bit type. Two 4-bit integers share a byte, the first in the
/// low half.
Tensor integers(std::span<const int32_t> values, DType type, const Shape& shape);

/// The initializers that the tensors of an activation group share.
struct GroupParams {
  ValueId scale, zero_point;
  ValueId table;  // code of the nearest table entry for each code; invalid without a table
};

/// The initializers of a weight that several kernels read.
struct StoredWeight {
  ValueId codes, scale, zero_point;
  std::vector<float> scales;
};

/// The initializers that the readers of an embedding share. If rows are gathered as codes, scale and zero point are
/// float columns.
struct StoredTable {
  ValueId table;
  QuantizationParams params;
  ValueId codes, scale;
  ValueId zero_point;  // invalid if all zero points are 0
};

/// The same of an embedding in blocks.
struct StoredBlocks {
  ValueId table;
  quant::BlockParams params;
  ValueId codes, scale;
  ValueId zero_point;  // invalid if all zero points are 0
};

/// Builds the model of a single plan; apply() may be called once.
class Applier {
 public:
  Applier(const Model& model, const QuantizationPlan& plan)
      : model_(model), plan_(plan), captured_(passes::captured_values(model.graph)) {}

  Model apply();

 private:
  Graph& graph() { return model_.graph; }
  const std::string& name_of(ValueId id) { return graph().name_of(id); }
  /// True if the plan has integers of 16 or 4 bits.
  bool needs_small_integers() const;
  /// True if float arithmetic reads the weight, which plain operators then restore once, when the runtime opens the
  /// file. A DequantizeLinear would be computed in every run, and ONNX Runtime rounds the input of a MatMul behind one
  /// to 8 bits.
  bool folds(const KernelPlan& kernel) const;
  /// True if the runtime computes constants once, when it opens the file; codes of few bits may then be packed.
  bool folds_constants() const { return tpc::folds(plan_.float_weights); }
  bool multiplies_bits(const KernelPlan& kernel, const Node& node) const;
  /// MatMuls and Gemms with a float result that runtimes compute in integers or with packed weights.
  std::vector<NodeId> kernels_with_float_results() const;
  /// Kernels that runtimes would compute in integers with a single zero point, although the weight has several.
  std::vector<NodeId> kernels_with_zero_points() const;
  std::vector<NodeId> softmaxes_in_float() const;
  void drop_plain_dilations();
  void fold_clamps();
  /// Inserts QuantizeLinear and DequantizeLinear; `uses` is that of the graph before the first insertion.
  void insert_pair(const Uses& uses, const ActivationPlan& activation);
  Node bound(const std::string& name, ValueId value, const QuantizationParams& params);
  Node bound_codes(const std::string& name, ValueId all, ValueId bounded, const QuantizationParams& params);
  void place_new_nodes();
  void make_names_unique();

  // store_weights.cpp
  void store_weight(const KernelPlan& kernel);
  void store_blocks(const KernelPlan& kernel, const Tensor& values, Node& node);
  void store_levels(const KernelPlan& kernel, const Tensor& values, ValueId output, std::vector<Node>& nodes);
  void store_bias(const KernelPlan& kernel, Node& node);
  Tensor codes_of_weight(const KernelPlan& kernel, const Tensor& values) const;
  void fold_shared(const KernelPlan& kernel, const Tensor& values, ValueId output, std::vector<Node>& nodes);
  void fold_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                   std::vector<Node>& nodes);
  void restore_blocks(const KernelPlan& kernel, std::span<const int8_t> rows, const Shape& shape, ValueId output,
                      std::vector<Node>& nodes);
  ValueId scales_of_blocks(const std::string& stem, const quant::BlockParams& params, const Shape& shape,
                           std::vector<Node>& nodes);
  void import_microsoft();
  void multiply_bits(const KernelPlan& kernel, std::span<const int8_t> rows, Node& node);

  // store_constants.cpp
  void store_tied(const ConstantPlan& table);
  void store_constant(const ConstantPlan& constant);
  void store_embedding(const ConstantPlan& embedding);
  void gather_blocks(const ConstantPlan& embedding, Node& node);
  StoredTable stored_table(const ConstantPlan& embedding, ValueId table);

  // restoring_nodes.cpp. Functions with a list of nodes append their nodes to it.
  Node pair_node(const std::string& type, const std::string& name, std::vector<ValueId> inputs, ValueId output);
  ValueId chain(std::vector<Node>& nodes, const std::string& type, const std::string& name, std::vector<ValueId> inputs,
                const std::string& result, DType dtype);
  ValueId whole(const std::string& name, std::vector<int64_t> numbers) {
    const Shape one{static_cast<int64_t>(numbers.size())};
    return graph().add_initializer(name, Tensor::of<int64_t>(one, numbers));
  }
  /// Adds codes as an initializer, and registers codes of few bits for packing.
  ValueId stored_codes_of(const std::string& stem, Tensor codes, int n_bits) {
    const ValueId stored = graph().add_initializer(stem + kCodes, std::move(codes));
    if (folds_constants()) few_bit_codes_.push_back({stored, n_bits});
    return stored;
  }
  ValueId scale_of(const std::string& stem, const QuantizationParams& params);
  ValueId zero_point_of(const std::string& stem, const QuantizationParams& params, DType type);
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
  /// The element type for the weight's codes: 4 bits wide for weights of at most 4 bits, if the operator set has such
  /// types and the runtime does not compute constants.
  DType weight_type(const QuantizationParams& params) const;

  Model model_;
  const QuantizationPlan& plan_;
  std::map<size_t, GroupParams> group_params_;
  std::vector<StoredTable> tables_;
  std::vector<StoredBlocks> block_tables_;
  bool has_int4_ = false;                       // beside an operator set that may be older than that type
  std::map<NodeId, ValueId> tied_;              // by kernel: codes of the table whose rows are its output channels
  std::map<NodeId, StoredWeight> weights_;      // by the first of the kernels that share the weight
  std::map<ValueId, std::vector<Node>> after_;  // nodes to insert behind the producer of a value
  std::map<NodeId, std::vector<Node>> before_;  // nodes to insert in front of a node
  std::vector<FewBitCodes> few_bit_codes_;
  std::vector<bool> captured_;  // by value: a subgraph reads it by name
};

}  // namespace tersor::ptq
