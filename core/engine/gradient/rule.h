// SPDX-License-Identifier: Apache-2.0
// How the gradient of an operator is written: as further nodes of the same graph. A Rule is what this room knows of one
// operator, under the name that core/ops has it by; the nodes are ONNX's own and those of kGradientDomain, whose
// kernels stand in the files of the rules that need them. So the engine plans, lays out and runs gradients as it does
// any graph, with the same bytes everywhere.
#pragma once

#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/op.h"

namespace tersor::gradient {

/// The domain of the operators that gradients are made of, beside ONNX's own.
inline constexpr std::string_view kGradientDomain = "tersor.gradient";

/// One node of the forward graph, and the nodes that its gradient adds. L is the loss.
class Backward {
 public:
  virtual ~Backward() = default;

  virtual const Node& node() const = 0;
  /// dL by output k, of that output's shape; invalid where the loss does not depend on it.
  virtual ValueId by_output(size_t k = 0) const = 0;
  /// Somebody needs dL by input k.
  virtual bool wants(size_t k) const = 0;
  /// Says what dL by input k is. It is added to what other readers of that input gave.
  virtual void give(size_t k, ValueId gradient) = 0;
  /// The same where the operator has broadcast the input: sums `gradient` over the axes that were repeated.
  virtual void give_broadcast(size_t k, ValueId gradient) = 0;

  /// A node of ONNX (or of `domain`) with one output, which is returned.
  virtual ValueId emit(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {},
                       std::string_view domain = {}) = 0;
  /// One of kGradientDomain.
  ValueId own(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return emit(type, std::move(inputs), std::move(attributes), kGradientDomain);
  }
  virtual std::vector<ValueId> emit_many(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                         Attributes attributes, std::string_view domain) = 0;
  /// A constant of one element.
  virtual ValueId scalar(float value) = 0;
  virtual ValueId constant(Tensor tensor) = 0;
  /// The value where it is a constant of the graph, else null.
  virtual const Tensor* known(ValueId value) const = 0;
  /// The rank of a value of the forward graph. Error kUnsupportedModel where it is not known.
  virtual int rank(ValueId value) const = 0;
  /// Version of ONNX's operator set.
  virtual int64_t opset() const = 0;
};

struct Rule {
  std::string_view domain, type;
  /// Writes the gradients of the inputs that are wanted. Null: nothing passes (the operator is constant wherever it has
  /// a derivative at all, as Floor or Shape is). Error kUnsupportedModel for a form of the node that has none here.
  void (*write)(Backward& backward) = nullptr;
};

/// The rules and kernels of one file.
struct Family {
  std::vector<Rule> rules;
  std::vector<ops::Op> kernels = {};
};

Family binary_family();       // arithmetic of two inputs; Max, Min, Sum, Mean of many
Family convolution_family();  // Conv, ConvTranspose
Family move_family();         // Reshape, Transpose, Slice, Gather, Concat and all that moves elements
Family multiply_family();     // Gemm, MatMul
Family normalize_family();    // Softmax, LayerNormalization, BatchNormalization
Family pool_family();         // MaxPool, AveragePool and the global ones
Family reduce_family();       // the Reduce family
Family slope_family();        // element by element: Relu, Sigmoid, Gelu
Family training_family();     // FakeQuantize, SquaredError, CrossEntropy

/// The rule of a node; null where this room has none.
const Rule* find_rule(const Node& node);
/// Every rule, in the order of the families.
const std::vector<Rule>& rules();

}  // namespace tersor::gradient
