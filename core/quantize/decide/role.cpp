// SPDX-License-Identifier: Apache-2.0
#include "core/decide/role.h"

#include <algorithm>

#include "core/decide/runtime_fusions.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/operators.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

using framework::ActivationMode;
using framework::NodeAttachment;
using tpc::RuntimeKernel;

namespace {

NodeRole in_float(std::string reason) {
  return {Role::kFloat, std::nullopt, std::move(reason)};
}

Role kernel_role(const NodeAttachment& attached) {
  if (attached.kernel == RuntimeKernel::kInteger) return Role::kKernel;
  return attached.kernel == RuntimeKernel::kIntegerFloatOutput ? Role::kKernelFloatOutput : Role::kWeightOnly;
}

/// A product of two activations: both are quantized per tensor.
NodeRole product_role(const Graph& graph, const Node& node, const NodeAttachment& attached) {
  const bool constant = graph.initializer(node.inputs[0]) != nullptr || graph.initializer(node.inputs[1]) != nullptr;
  if (constant) return in_float("Its constant operand is not a float32 matrix on the right side.");
  if (attached.kernel == RuntimeKernel::kFloat) return in_float("The platform has no integer kernel for it.");
  return {kernel_role(attached), std::nullopt, {}};
}

std::string why_no_weight(const Graph& graph, const Node& node) {
  const Tensor* weight = graph.initializer(node.inputs[1]);
  if (weight == nullptr) return "Its weight is computed while the model runs.";
  if (weight->dtype() != DType::kFloat32)
    return "Its weight is of type " + std::string(name_of(weight->dtype())) + ", not float32.";
  if (node.int_or("transA", 0) != 0) return "It transposes its first input, which integer kernels do not.";
  return "Its weight has the shape " + weight->shape().text() + ", which integer kernels do not take.";
}

NodeRole weighted_role(const Graph& graph, const Node& node, const NodeAttachment& attached) {
  auto op = passes::kernel_op(graph, node);
  if (node.inputs.size() < 2 || !node.inputs[1].valid()) return in_float("It has no weight.");
  if (!op && node.is("MatMul")) return product_role(graph, node, attached);
  if (!op) return in_float(why_no_weight(graph, node));
  const framework::WeightAttribute* weight = attached.weight(tpc::kKernelAttr);
  const bool activations_alone = weight != nullptr && weight->left_float && kernel_role(attached) != Role::kWeightOnly;
  if ((weight == nullptr || !weight->config.enable_weights_quantization) && !activations_alone)
    return in_float(attached.reason.empty() ? "The platform or the settings leave its weight in float."
                                            : attached.reason);
  if (!passes::bias_values(graph, *op)) return in_float("Its bias is not one constant per output channel.");
  if (node.float_or("alpha", 1) != 1 || node.float_or("beta", 1) != 1)
    return in_float("It scales its result by alpha or beta, which integer kernels do not.");
  return {kernel_role(attached), op, {}, activations_alone};
}

NodeRole role_of(const Graph& graph, const Node& node, const NodeAttachment& attached, const tpc::ExportRules& rules) {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || !node.inputs[0].valid())
    return in_float({});
  if (has_trait(node, Trait::kWeighted)) return weighted_role(graph, node, attached);
  if (rules.fold_clamps && clamp_bounds(graph, node)) return {Role::kClamp, std::nullopt, {}};
  if (node.is("Resize") && node.attribute<std::string>("mode") != nullptr &&
      *node.attribute<std::string>("mode") == "cubic")
    return in_float("ONNX Runtime has no integer kernel for a cubic Resize.");
  if (attached.activation == ActivationMode::kPreserveQuant) return {Role::kMover, std::nullopt, {}};
  if (attached.kernel == RuntimeKernel::kFloat)
    return in_float(fuses_with_neighbours(node) ? "Its integer kernel is slower or less exact than float."
                                                : "The platform has no integer kernel for it.");
  if (node.is("AveragePool") && is_dilated(node))
    return in_float("The integer kernel of ONNX Runtime for AveragePool knows no dilations.");
  return {Role::kJoin, std::nullopt, {}};
}

}  // namespace

std::vector<NodeRole> find_roles(const Graph& graph, const framework::Attachment& attachment) {
  std::vector<NodeRole> roles;
  for (const Node& node : graph.nodes()) {
    NodeRole role = role_of(graph, node, attachment.of(node.id), attachment.export_rules);
    role.float_operands = role.has_kernel() && !attachment.quantizes_output(node.id);
    roles.push_back(std::move(role));
  }
  return roles;
}

bool has_fixed_range(const NodeAttachment& attached) {
  return attached.config().fixed_scale.has_value() && attached.kernel != RuntimeKernel::kFloat;
}

bool is_dilated(const Node& node) {
  const std::vector<int64_t> dilations = node.ints_or("dilations", {});
  return std::any_of(dilations.begin(), dilations.end(), [](int64_t one) { return one != 1; });
}

bool pads_with_zeros(const Graph& graph, const Node& node) {
  if (!node.is("Pad") || node.string_or("mode", "constant") != "constant") return false;
  if (node.inputs.size() < 3 || !node.inputs[2].valid()) return true;
  const Tensor* value = passes::float_constant(graph, node.inputs[2]);
  return value != nullptr && value->elements() == 1 && passes::to_doubles(*value)[0] == 0;
}

std::vector<ValueId> value_inputs(const Node& node, Role role) {
  const bool joins = node.is("Concat") || node.is("Min") || node.is("Max");
  if (role == Role::kClamp || (role == Role::kMover && !joins)) return {node.inputs[0]};
  if (role == Role::kKernel || role == Role::kKernelFloatOutput || role == Role::kWeightOnly)
    return node.is("MatMul") ? node.inputs : std::vector<ValueId>{node.inputs[0]};
  return node.inputs;
}

}  // namespace tersor::ptq
