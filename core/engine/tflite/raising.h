// SPDX-License-Identifier: Apache-2.0
// What the operators of a .tflite file are raised with: the values made so far, each as the file has it ("plain"), with
// channels first, or both.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/tflite/axis_order.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

using NodeAttributes = std::vector<std::pair<std::string, Attribute>>;

class Raising {
 public:
  explicit Raising(const Network& network);
  Model model();

  // Of the operator that is being raised.
  const Operator& op() const { return *op_; }
  bool has(size_t input) const { return input < op_->inputs.size() && op_->inputs[input] >= 0; }
  int32_t in(size_t input) const { return op_->inputs[input]; }
  int32_t out(size_t output = 0) const { return op_->outputs[output]; }
  /// Constants that it has to have. Error kUnsupportedModel where they are none; `what` begins the sentence.
  Tensor floats(size_t input, const char* what) const;
  std::vector<int64_t> numbers(size_t input, const char* what) const;
  /// The axis that an input names. Also error kInvalidModel where it names none.
  int64_t axis(size_t input) const;

  const NetworkTensor& at(int32_t tensor) const { return network_.tensors[static_cast<size_t>(tensor)]; }
  Dims dims(int32_t tensor) const { return {at(tensor).shape.begin(), at(tensor).shape.end()}; }
  int rank(int32_t tensor) const { return static_cast<int>(at(tensor).shape.size()); }
  const Tensor* constant(int32_t tensor) const;
  /// It is at hand with channels first.
  bool is_first(int32_t tensor) const;
  ValueId plain(int32_t tensor);
  /// Of rank 4.
  ValueId first(int32_t tensor);
  ValueId form(int32_t tensor, bool in_first) { return in_first ? first(tensor) : plain(tensor); }

  ValueId initializer(const std::string& name, Tensor tensor);
  ValueId list(const std::vector<int64_t>& numbers);
  ValueId number(float value);
  ValueId node(const std::string& type, const std::vector<ValueId>& inputs, NodeAttributes attributes = {});
  std::vector<ValueId> nodes(const std::string& type, const std::vector<ValueId>& inputs, size_t outputs,
                             NodeAttributes attributes, const std::string& stem);

  /// What the operator gives: as the file has it, or with channels first.
  void give(size_t output, ValueId value, bool in_first);
  /// After its fused activation.
  void give_activated(ValueId value, bool in_first);
  void take_constant(size_t output, Tensor tensor);
  [[noreturn]] void refuse_quantized(const NetworkTensor& tensor) const;

 private:
  struct Forms {
    ValueId plain, first;
  };

  static std::string name_of_operator(const Operator& op);
  ValueId named(ValueId value, const std::string& name);

  const Network& network_;
  const Operator* op_ = nullptr;
  Model model_;
  std::vector<Forms> values_;
  std::vector<std::optional<Tensor>> constants_;
};

/// Raises the operator that `graph` stands at.
void raise_operator(Raising& graph);

}  // namespace tersor::tflite
