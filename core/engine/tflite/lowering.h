// SPDX-License-Identifier: Apache-2.0
// What the rules of single operators share while a model is lowered.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/qdq.h"
#include "core/graph/uses.h"
#include "core/ops/layout.h"
#include "core/tflite/axis_order.h"
#include "core/tflite/integer_nodes.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

/// A value of the graph as the network has it.
struct Held {
  int32_t tensor = -1;
  AxisOrder order = {};
  /// Axes were merged that do not follow each other in the tensor: it holds the elements as they lay before, of a value
  /// of the `before` shape in the `before_order`.
  Dims before = {};
  AxisOrder before_order = {};
  bool is_jumbled() const { return !before.empty(); }
};

/// An operator to be lowered: a node and one of its outputs.
struct Site {
  const Node& node;
  size_t index = 0;
  size_t output = 0;
  bool in_integers = false;
  Quantization grid = {};  // of the output; empty: floats
  DType dtype = DType::kFloat32;
  int32_t activation = kNoActivation;  // applied to the output
  std::string name = {};
  Dims shape = {};  // of the output where it is not the node's own

  bool in_16_bits() const { return in_integers && dtype == DType::kInt16; }
  /// Of its codes; those of an operator that gives no quantity are of 8 bits.
  DType code_type() const { return in_16_bits() ? DType::kInt16 : DType::kInt8; }
};

/// Of int8 and int16.
constexpr int64_t lowest_of(DType code) {
  return code == DType::kInt16 ? std::numeric_limits<int16_t>::min() : std::numeric_limits<int8_t>::min();
}

/// A constant: an initializer, or one after a DequantizeLinear.
struct ConstantValue {
  Tensor tensor;
  std::optional<QuantizationNode> quantized;
};

class Lowering {
 public:
  Lowering(const Model& model, bool keeps_codes);
  Network run();

  // For rules.
  const Model& model() const { return model_; }
  bool keeps_codes() const { return keeps_codes_; }
  [[noreturn]] void refuse(const Site& site, const std::string& message, const std::string& hint = {}) const;
  const Dims& shape_of(ValueId value) const;
  const Dims& result_shape(const Site& site) const {
    return site.shape.empty() ? shape_of(site.node.outputs[site.output]) : site.shape;
  }
  std::optional<ConstantValue> constant_of(ValueId value) const;
  /// Whole numbers of a constant input that the operator reads itself; none where it is absent.
  std::optional<Dims> numbers_of(const Site& site, size_t input) const;

  /// An input in integers or floats, as the site computes.
  Held operand(const Site& site, size_t input);
  /// The same with its axes in that order.
  int32_t operand_in(const Site& site, size_t input, const AxisOrder& order);
  int32_t in_axis_order(const Held& held, const Dims& shape, const AxisOrder& order);
  Held reshape(const Held& held, const Dims& from, const Dims& to, const std::string& name);
  /// An operand of an elementwise operator, spread to the rank of the result.
  int32_t spread_operand(const Site& site, size_t input, const AxisOrder& order);

  int32_t constant(const std::string& name, Tensor tensor, Quantization grid = {});
  int32_t numbers(const Dims& values);
  int32_t tensor(const std::string& name, const Dims& shape, DType dtype, Quantization grid);
  const NetworkTensor& at(int32_t tensor) const { return network_.tensors[static_cast<size_t>(tensor)]; }
  /// Refuses an operator that has none for the site's integers.
  void need_kernel(const Site& site, Code code) const;
  /// An operator of one output with the site's grid.
  Held emit(const Site& site, Code code, std::vector<int32_t> inputs, const AxisOrder& order, Options options = {});
  /// The same of an operator that gives its output this grid whatever follows; brought to the site's grid after it.
  Held emit_fixed(const Site& site, Code code, std::vector<int32_t> inputs, const AxisOrder& order,
                  const Quantization& grid, Options options = {});
  /// The tensor in another grid.
  int32_t requantize(int32_t tensor, const Quantization& grid, DType dtype, const std::string& name);
  int32_t append(Code code, std::vector<int32_t> inputs, NetworkTensor output, Options options = {},
                 std::vector<int32_t> intermediates = {});
  /// A state of an operator.
  int32_t variable(const std::string& name, const Dims& shape, DType dtype, Quantization grid);
  /// What a recurrent node's operator gives, which several outputs are taken from; no tensor at first.
  Held& sequence_of(const Site& site) { return sequences_[site.index]; }
  /// The same of one that is written step by step: the state behind each, and the last cell.
  std::vector<int32_t>& states_of(const Site& site) { return states_[site.index]; }
  /// Some node reads the value, or the model gives it out.
  bool is_read(ValueId value) const { return uses_.reader_count(value) > 0; }

 private:
  void lower_inputs();
  void lower_node(const Node& node, size_t index);
  bool lower_quantizer(const Node& node);
  void lower_outputs();
  bool wants_channels_last(ValueId value) const;
  Held floats_of(ValueId value);
  void remove_unread();

  const Model& model_;
  bool keeps_codes_;
  const Graph& graph_;
  Uses uses_;
  IntegerValues values_;
  std::vector<std::optional<Dims>> shapes_;
  Network network_;
  std::map<ValueId, Held> held_;         // of floats and codes
  std::map<ValueId, ValueId> codes_of_;  // of what a DequantizeLinear makes
  std::vector<bool> done_;               // by node: lowered with another
  std::map<std::pair<int32_t, AxisOrder>, int32_t> rearranged_;
  std::map<Dims, int32_t> numbers_;
  std::map<int32_t, size_t> producer_;  // of tensors
  std::map<size_t, Held> sequences_;    // by node
  std::map<size_t, std::vector<int32_t>> states_;
};

/// How one operator is lowered.
struct Rule {
  std::string_view type;
  Held (*lower)(Lowering&, const Site&);
  bool takes_activation = false;
  bool gives_numbers = false;  // its output is no quantity: it is in integers where its inputs are
};
/// Null where there is none.
const Rule* find_rule(const Node& node);

}  // namespace tersor::tflite
