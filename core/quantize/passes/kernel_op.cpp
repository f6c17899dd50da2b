// SPDX-License-Identifier: Apache-2.0
#include "core/passes/kernel_op.h"

#include "core/base/error.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/operators.h"
#include "core/passes/edit.h"

namespace tersor::passes {

namespace {

std::optional<KernelOp> conv_op(const Node& node, const Tensor& weight) {
  const Shape& shape = weight.shape();
  KernelOp op;
  op.is_conv = true;
  op.is_transposed = node.op_type == "ConvTranspose";
  op.groups = int_of(node, "group");
  if (shape.rank() < 3 || op.groups < 1 || shape[0] % op.groups != 0) return std::nullopt;
  op.taps = shape.elements(2, shape.rank());
  op.output_axis = op.is_transposed ? 1 : 0;
  op.input_axis = op.is_transposed ? 0 : 1;
  op.outputs = op.is_transposed ? shape[1] * op.groups : shape[0];
  op.inputs = op.is_transposed ? shape[0] : shape[1] * op.groups;
  return op;
}

std::optional<KernelOp> product_op(const Node& node, const Tensor& weight) {
  const Shape& shape = weight.shape();
  if (shape.rank() != 2 || node.int_or("transA", 0) != 0) return std::nullopt;
  KernelOp op;
  const bool turned = node.int_or("transB", 0) != 0;  // MatMul has neither
  op.output_axis = turned ? 0 : 1;
  op.input_axis = turned ? 1 : 0;
  op.outputs = shape[op.output_axis];
  op.inputs = shape[op.input_axis];
  op.can_have_bias = node.op_type == "Gemm";
  return op;
}

}  // namespace

std::optional<KernelOp> kernel_op(const Graph& graph, const Node& node) {
  const bool conv = node.is("Conv") || node.is("ConvTranspose");
  if (!has_trait(node, Trait::kWeighted) || node.inputs.size() < 2) return std::nullopt;
  const Tensor* weight = float_constant(graph, node.inputs[1]);
  if (weight == nullptr || weight->elements() == 0) return std::nullopt;
  auto op = conv ? conv_op(node, *weight) : product_op(node, *weight);
  if (!op) return std::nullopt;
  op->weight = node.inputs[1];
  if (op->can_have_bias && node.inputs.size() > 2) op->bias = node.inputs[2];
  return op;
}

Tensor scale_outputs(const KernelOp& op, const Tensor& weight, const std::vector<double>& scale) {
  const Tensor aligned = weight.aligned();
  const auto values = aligned.data<float>();
  Tensor scaled = Tensor::make_unset(DType::kFloat32, weight.shape());
  const auto target = scaled.mutable_data<float>();
  for (int64_t o = 0; o < op.outputs; ++o)
    for (int64_t i = 0; i < op.inputs_per_group(); ++i)
      for (int64_t tap = 0; tap < op.taps; ++tap) {
        const size_t k = op.at(o, i, tap);
        target[k] = static_cast<float>(values[k] * scale[static_cast<size_t>(o)]);
      }
  return scaled;
}

Tensor scale_outputs_when_read(const KernelOp& op, const Tensor& weight, const std::vector<double>& scale) {
  if (!weight.is_deferred()) return scale_outputs(op, weight, scale);
  return Tensor::deferred(DType::kFloat32, weight.shape(),
                          [op, former = weight.unread(), scale] { return scale_outputs(op, former, scale); });
}

void scale_weight(Graph& graph, const KernelOp& op, double factor) {
  const Tensor& weight = *graph.initializer(op.weight);
  std::vector<double> values = to_doubles(weight);
  for (double& value : values) value *= factor;
  graph.set_initializer(op.weight, from_doubles(values, weight.shape()));
}

void set_bias(Graph& graph, Node& node, const KernelOp& op, const std::vector<double>& bias) {
  TERSOR_CHECK(op.can_have_bias);
  set_constant(graph, Uses(graph), node, op.bias_slot, from_doubles(bias, Shape{static_cast<int64_t>(bias.size())}),
               graph.name_of(op.weight) + "_bias");
}

std::optional<std::vector<double>> bias_values(const Graph& graph, const KernelOp& op) {
  const auto outputs = static_cast<size_t>(op.outputs);
  if (!op.bias.valid()) return std::vector<double>(outputs, 0.0);
  const Tensor* bias = float_constant(graph, op.bias);
  if (bias == nullptr) return std::nullopt;
  const Shape& shape = bias->shape();
  if (op.is_conv) return shape == Shape{op.outputs} ? std::optional(to_doubles(*bias)) : std::nullopt;
  if (bias->elements() == 1) return std::vector<double>(outputs, to_doubles(*bias)[0]);
  if (bias->elements() == op.outputs && shape[shape.rank() - 1] == op.outputs) return to_doubles(*bias);
  return std::nullopt;
}

}  // namespace tersor::passes
